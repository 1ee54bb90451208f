/**
 * Serves calls that have an HTTP/2 stream each: gRPC, with the bytes of every call counted for its party
 * (held-bytes.ts). A stream is read as soon as it is opened: HTTP/2's window is per stream, and 128 unread windows of a
 * connection would be a gigabyte.
 */
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import { Code, ConnectError, type ConnectRouter, type ContextValues, createConnectRouter } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { CallBytes, type HeldBytes, openCallBytes } from "./held-bytes.ts";
import { messageLimits, windowBytes } from "./tls-settings.ts";

/** Received and not yet requested by the handler: beyond this the stream is not read. */
const queuedBytesMax = 1 << 20;
/** gRPC: a message is preceded by a byte of flags and its length, big-endian. */
const prefixBytes = 5;

export interface CallerOfRequest {
  readonly values: ContextValues;
  readonly account: HeldBytes;
}

/** @param callerOf throws for a request of an unknown peer */
export function separateCalls(
  routes: (router: ConnectRouter) => void,
  callerOf: (request: Http2ServerRequest) => CallerOfRequest,
): (request: Http2ServerRequest, response: Http2ServerResponse) => void {
  const router = createConnectRouter({ ...messageLimits, connect: false, grpcWeb: false });
  routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const handler = handlers.get(request.url);
    if (handler === undefined) {
      response.writeHead(404);
      response.end();
      return;
    }
    const { values, account } = callerOf(request);
    const { stream } = request;
    const bytes = new CallBytes(account);
    stream.once("close", () => bytes.end());
    try {
      bytes.hold(openCallBytes);
    } catch {
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    void answer(handler, request, response, values, bytes);
  };
}

async function answer(
  handler: UniversalHandler,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  values: ContextValues,
  bytes: CallBytes,
): Promise<void> {
  const { stream } = request;
  const { methodKind } = handler.method;
  const takesMany = methodKind === "client_streaming" || methodKind === "bidi_streaming";
  const body = new CountedBody(stream, bytes, takesMany);
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    const answered = await handler({ ...universal, body });
    const counted = answered.body === undefined ? {} : { body: countedAnswers(answered.body, bytes) };
    await universalResponseToNodeResponse({ ...answered, ...counted }, response);
  } catch {
    // The handler sends its errors in trailers: this is a stream that broke, or an answer that is not read.
    if (!stream.closed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  } finally {
    body.discard();
  }
}

async function* countedAnswers(body: AsyncIterable<Uint8Array>, bytes: CallBytes): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    bytes.hold(piece.length);
    yield piece;
    bytes.free(piece.length); // written, when the next one is asked for
  }
}

type Reader = {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * A request's bytes. A message counts with its announced length, which is allocated at once, until the handler requests
 * the next one. Where a call has a single message it counts until the call ends, because the handler works on the
 * message after reading the whole body.
 */
class CountedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #stream: ServerHttp2Stream;
  readonly #bytes: CallBytes;
  readonly #messages = new MessageLengths();
  readonly #takesMany: boolean;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Of the piece that was given last. */
  #givenBytes = 0;
  #reader: Reader | null = null;
  #end: { readonly error: unknown } | null = null;

  constructor(stream: ServerHttp2Stream, bytes: CallBytes, takesMany: boolean) {
    this.#stream = stream;
    this.#bytes = bytes;
    this.#takesMany = takesMany;
    stream.on("data", (piece: Buffer) => this.#received(piece));
    stream.once("end", () => this.#finish(undefined));
    const lost = (): void => this.#finish(new ConnectError("the connection was lost", Code.Aborted));
    stream.once("close", lost);
    stream.on("error", lost);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#serve();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.discard();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** No more is read: what still arrives is dropped. */
  discard(): void {
    this.#finish(undefined);
    this.#queue.length = 0;
    this.#resume();
  }

  #received(piece: Buffer): void {
    if (this.#end !== null) return;
    try {
      this.#bytes.hold(piece.length);
      this.#queue.push(piece);
      this.#queuedBytes += piece.length;
      if (this.#queuedBytes > queuedBytesMax && !this.#stream.isPaused()) {
        // Up to a window arrives although the stream is not read.
        this.#bytes.hold(windowBytes);
        this.#stream.pause();
      }
    } catch (error) {
      this.#refuse(error);
    }
    this.#serve();
  }

  #serve(): void {
    const reader = this.#reader;
    if (reader === null) return;
    const piece = this.#queue.shift();
    if (piece === undefined) return this.#end === null ? undefined : this.#finish(undefined);
    this.#reader = null;
    try {
      reader.resolve(this.#given(piece));
    } catch (error) {
      this.#refuse(error);
      reader.reject(error);
    }
  }

  #refuse(error: unknown): void {
    this.#queue.length = 0;
    this.#finish(error);
  }

  /** The handler has taken all messages that ended in earlier pieces, and the decoder has copied those pieces. */
  #given(piece: Buffer): IteratorResult<Uint8Array, undefined> {
    this.#queuedBytes -= piece.length;
    if (this.#queuedBytes <= queuedBytesMax) this.#resume();
    this.#bytes.free(this.#givenBytes);
    this.#givenBytes = piece.length;
    const { endedBytes, begunBytes } = this.#messages.next(piece);
    if (this.#takesMany) this.#bytes.free(endedBytes);
    this.#bytes.hold(begunBytes);
    return { done: false, value: piece };
  }

  #resume(): void {
    if (!this.#stream.isPaused() || this.#stream.destroyed) return;
    this.#bytes.free(windowBytes);
    this.#stream.resume();
  }

  #finish(error: unknown): void {
    this.#end ??= { error };
    const reader = this.#reader;
    this.#reader = null;
    if (reader === null) return;
    if (this.#end.error === undefined) reader.resolve({ done: true, value: undefined });
    else reader.reject(this.#end.error);
  }
}

/** Lengths of the messages in the pieces given to a decoder, which allocates a message when it has its prefix. */
class MessageLengths {
  readonly #prefix = Buffer.alloc(prefixBytes);
  #prefixFilled = 0;
  #contentLeft = 0;
  #endedBytes = 0;

  /** @returns bytes of messages that ended in earlier pieces, and of those that begin in this one */
  next(piece: Buffer): { readonly endedBytes: number; readonly begunBytes: number } {
    const endedBytes = this.#endedBytes;
    this.#endedBytes = 0;
    let begunBytes = 0;
    for (let at = 0; at < piece.length;) {
      const isContent = this.#prefixFilled === prefixBytes;
      const taken = Math.min(isContent ? this.#contentLeft : prefixBytes - this.#prefixFilled, piece.length - at);
      if (isContent) this.#contentLeft -= taken;
      else {
        piece.copy(this.#prefix, this.#prefixFilled, at, at + taken);
        this.#prefixFilled += taken;
        if (this.#prefixFilled === prefixBytes) begunBytes += this.#contentLeft = this.#prefix.readUInt32BE(1);
      }
      at += taken;
      if (this.#prefixFilled < prefixBytes || this.#contentLeft > 0) continue;
      this.#prefixFilled = 0;
      this.#endedBytes += this.#prefix.readUInt32BE(1);
    }
    return { endedBytes, begunBytes };
  }
}
