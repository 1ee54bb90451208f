/**
 * Serves the calls of one shared stream, with the handlers of separate calls. If a caller violates the framing, the
 * stream is closed with all of its calls.
 */
import { create, type DescMessage, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServerHttp2Stream } from "node:http2";
import { Code, ConnectError, type ContextValues, type MethodImplSpec } from "@connectrpc/connect";
import { encodedPieces } from "../../wire/large-bytes.ts";
import { CallBytes, type HeldBytes, openCallBytes } from "../held-bytes.ts";
import { CallContext } from "./call-context.ts";
import { failureBytes } from "./call-failure.ts";
import { type Frame } from "./frames.ts";
import { FrameStream, waitingBytes } from "./frame-stream.ts";
import { Incoming } from "./incoming.ts";

/** The methods registered at a router, by path. */
export type CallMethods = ReadonlyMap<string, MethodImplSpec>;

/** Calls of one stream whose handlers have not ended, including cancelled ones. */
const callsMax = 128;

interface OpenCall {
  readonly method: MethodImplSpec;
  readonly requests: Incoming<MessageInitShape<DescMessage>>;
  readonly context: CallContext;
  readonly bytes: CallBytes;
}

export class ServedCalls {
  readonly #methods: CallMethods;
  readonly #values: ContextValues;
  readonly #account: HeldBytes;
  readonly #frames: FrameStream;
  readonly #open = new Map<number, OpenCall>();
  #lastCall = 0;
  #isClosing = false;

  /** @param account of the calling party */
  constructor(stream: ServerHttp2Stream, methods: CallMethods, values: ContextValues, account: HeldBytes) {
    this.#methods = methods;
    this.#values = values;
    this.#account = account;
    this.#frames = new FrameStream(
      stream,
      (frame) => this.#take(frame),
      (error) => {
        for (const call of this.#open.values()) abandon(call, error);
      },
    );
  }

  /** Ends the stream when all open calls have been answered. */
  close(): void {
    this.#isClosing = true;
    if (this.#open.size === 0) this.#frames.end();
  }

  #take({ call, kind, payload }: Frame): void {
    if (kind === "open") return this.#begin(call, Buffer.from(payload).toString("latin1"));
    if (call > this.#lastCall) throw new ConnectError("a frame of an unknown call", Code.InvalidArgument);
    const open = this.#open.get(call);
    if (open === undefined) return; // answered already
    switch (kind) {
      case "message":
        return this.#message(open, payload);
      case "end":
        return open.requests.finish();
      case "cancel":
        return abandon(open, new ConnectError("the call was cancelled", Code.Canceled));
      default:
        throw new ConnectError("a kind of frame that only servers send", Code.InvalidArgument);
    }
  }

  #begin(call: number, path: string): void {
    if (call !== this.#lastCall + 1) throw new ConnectError("calls are not in order", Code.InvalidArgument);
    if (this.#open.size >= callsMax) throw new ConnectError("too many calls at once", Code.ResourceExhausted);
    this.#lastCall = call;
    const method = this.#methods.get(path);
    if (method === undefined) return this.#refuse(call, new ConnectError("no such call", Code.Unimplemented));
    const bytes = new CallBytes(this.#account);
    try {
      bytes.hold(openCallBytes);
    } catch (error) {
      return this.#refuse(call, error);
    }
    // A handler of a single message works on it after it has read its requests to the end.
    const takesMany = method.kind === "client_streaming" || method.kind === "bidi_streaming";
    const requests = new Incoming<MessageInitShape<DescMessage>>(
      (freed) => this.#frames.free(freed),
      takesMany ? (processed) => bytes.free(processed) : undefined,
    );
    const opened = { method, requests, context: new CallContext(method.method, path, this.#values), bytes };
    this.#open.set(call, opened);
    void this.#answer(call, opened);
  }

  #refuse(call: number, error: unknown): void {
    void this.#frames.write(call, "failure", [failureBytes(error)]);
  }

  #message({ method, requests, bytes }: OpenCall, payload: Uint8Array): void {
    if (requests.isOver) return; // the handler has stopped reading
    try {
      bytes.hold(waitingBytes(payload));
    } catch (error) {
      requests.drop();
      requests.finish(error);
      return;
    }
    try {
      requests.add(fromBinary(method.method.input, payload), this.#frames.hold(payload));
    } catch (cause) {
      requests.finish(
        new ConnectError("parse binary: not a message of this call", Code.InvalidArgument, {}, [], cause),
      );
    }
  }

  /** Never throws: errors are sent to the caller. */
  async #answer(id: number, call: OpenCall): Promise<void> {
    try {
      for await (const answer of answers(call)) {
        if (this.#frames.isLost || call.context.isAborted) break;
        const { output } = call.method.method;
        const pieces = encodedPieces(output, create(output, answer));
        const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
        call.bytes.hold(size);
        await this.#frames.write(id, "message", pieces);
        call.bytes.free(size);
      }
      void this.#frames.write(id, "end");
    } catch (error) {
      void this.#frames.write(id, "failure", [failureBytes(error)]);
    } finally {
      this.#open.delete(id);
      void call.requests.return();
      call.bytes.end();
      if (this.#isClosing) this.close();
    }
  }
}

/** The answers of a call's handler, one or many. */
async function* answers({ method, requests, context }: OpenCall): AsyncGenerator<MessageInitShape<DescMessage>> {
  switch (method.kind) {
    case "unary":
      return yield await method.impl(await onlyOne(requests), context);
    case "client_streaming":
      return yield await method.impl(requests as AsyncIterable<never>, context);
    case "server_streaming":
      return yield* method.impl(await onlyOne(requests), context);
    case "bidi_streaming":
      return yield* method.impl(requests as AsyncIterable<never>, context);
  }
}

async function onlyOne(requests: Incoming<MessageInitShape<DescMessage>>): Promise<never> {
  const first = await requests.next();
  if (first.done === true || (await requests.next()).done !== true)
    throw new ConnectError("not exactly one message", Code.InvalidArgument);
  return first.value as never;
}

function abandon({ requests, context }: OpenCall, error: ConnectError): void {
  requests.drop();
  requests.finish(error);
  context.abort(error);
}
