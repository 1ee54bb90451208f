/**
 * A transport that sends all calls over one stream of a connection. It is opened with the first call and lasts as long
 * as the connection. A stream per call costs ten times as much as a short call itself: headers, trailers and stream
 * management at both ends.
 */
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { ClientHttp2Stream } from "node:http2";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { encodedPieces } from "../../wire/large-bytes.ts";
import { failureFrom } from "./call-failure.ts";
import type { Frame } from "./frames.ts";
import { FrameStream } from "./frame-stream.ts";
import { Incoming } from "./incoming.ts";

interface MadeCall {
  readonly id: number;
  readonly output: DescMessage;
  readonly answers: Incoming<MessageShape<DescMessage>>;
  /** Removes the listener of the abort signal. */
  readonly settled: () => void;
}

/**
 * @param open opens a stream to the other side's ServedCalls; called once
 * @param apart a method that uses a separate stream
 */
export function callsTransport(
  open: () => Promise<ClientHttp2Stream>,
  apart?: { readonly method: DescMethod; readonly transport: Transport },
): Transport {
  let opening: Promise<MadeCalls> | null = null;
  const opened = (): Promise<MadeCalls> => (opening ??= open().then((stream) => new MadeCalls(stream)));
  const around = { header: new Headers(), trailer: new Headers() };
  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const calls = await opened();
      const call = calls.begin(method, signal);
      void calls.send(call, method.input, [input]);
      const first = await call.answers.next();
      if (first.done === true || (await call.answers.next()).done !== true)
        throw new ConnectError("protocol error: not exactly one answer", Code.Unimplemented);
      const message = first.value as MessageShape<typeof method.output>;
      return { ...around, stream: false, service: method.parent, method, message };
    },
    async stream(method, signal, timeoutMs, header, input, values) {
      if ((method as DescMethod) === apart?.method)
        return apart.transport.stream(method, signal, timeoutMs, header, input, values);
      const calls = await opened();
      const call = calls.begin(method, signal);
      void calls.send(call, method.input, input);
      const message = call.answers as AsyncIterable<MessageShape<typeof method.output>>;
      return { ...around, stream: true, service: method.parent, method, message };
    },
  };
}

class MadeCalls {
  readonly #frames: FrameStream;
  readonly #open = new Map<number, MadeCall>();
  #lastCall = 0;
  #lost: ConnectError | null = null;

  constructor(stream: ClientHttp2Stream) {
    this.#frames = new FrameStream(
      stream,
      (frame) => this.#take(frame),
      (error) => {
        this.#lost = error;
        for (const call of this.#open.values()) this.#settle(call, error);
      },
    );
  }

  begin(method: DescMethod, signal: AbortSignal | undefined): MadeCall {
    if (this.#lost !== null) throw this.#lost;
    if (signal?.aborted === true) throw cancelled();
    const id = ++this.#lastCall;
    const answers = new Incoming<MessageShape<DescMessage>>((bytes) => this.#frames.free(bytes));
    const cancel = (): void => {
      answers.drop();
      this.#settle(call, cancelled());
      void this.#frames.write(id, "cancel");
    };
    const settled = (): void => signal?.removeEventListener("abort", cancel);
    const call: MadeCall = { id, output: method.output, answers, settled };
    signal?.addEventListener("abort", cancel, { once: true });
    this.#open.set(id, call);
    void this.#frames.write(id, "open", [Buffer.from(`/${method.parent.typeName}/${method.name}`, "latin1")]);
    return call;
  }

  /** Sends until all messages are sent, or the call is over: the other side may answer early. Never throws. */
  async send<I extends DescMessage>(
    call: MadeCall,
    input: I,
    messages: AsyncIterable<MessageInitShape<I>> | Iterable<MessageInitShape<I>>,
  ): Promise<void> {
    try {
      for await (const message of messages) {
        if (!this.#open.has(call.id)) return;
        await this.#frames.write(call.id, "message", encodedPieces(input, create(input, message)));
      }
      if (this.#open.has(call.id)) void this.#frames.write(call.id, "end");
    } catch (error) {
      if (!this.#open.has(call.id)) return;
      this.#settle(call, error);
      void this.#frames.write(call.id, "cancel");
    }
  }

  #take({ call: id, kind, payload }: Frame): void {
    if (id > this.#lastCall) throw new ConnectError("an answer to an unknown call", Code.InvalidArgument);
    const call = this.#open.get(id);
    if (call === undefined) return; // cancelled
    switch (kind) {
      case "message":
        return this.#answer(call, payload);
      case "end":
        return this.#settle(call);
      case "failure":
        return this.#settle(call, failureFrom(payload));
      default:
        throw new ConnectError("a kind of frame that only callers send", Code.InvalidArgument);
    }
  }

  #answer(call: MadeCall, payload: Uint8Array): void {
    try {
      call.answers.add(fromBinary(call.output, payload), this.#frames.hold(payload));
    } catch (cause) {
      this.#settle(call, new ConnectError("parse binary: not an answer to this call", Code.Internal, {}, [], cause));
      void this.#frames.write(call.id, "cancel");
    }
  }

  #settle(call: MadeCall, error?: unknown): void {
    this.#open.delete(call.id);
    call.answers.finish(error);
    call.settled();
  }
}

function cancelled(): ConnectError {
  return new ConnectError("the call was cancelled", Code.Canceled);
}
