/**
 * One end of a stream that carries many calls: incoming and outgoing frames, and the limit of unread ones. A side that
 * does not read its messages stops the other: a few megabytes are buffered here, and HTTP/2's window holds the rest.
 */
import type { Http2Stream } from "node:http2";
import { sentBuffers } from "../../base/reused-buffers.ts";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Frame, frameBytes, type FrameKind, FrameReader } from "./frames.ts";

/** Unread messages of all calls together: beyond this the connection is not read. */
export const waitingBytesMax = 4 << 20;
/** Counted for each message besides its bytes, so that many empty messages are limited too. */
const messageOverheadBytes = 64;
/** Bytes that may be buffered for sending. */
export const aheadBytesMax = 1 << 20;

/** What an unread message counts. */
export function waitingBytes(payload: Uint8Array): number {
  return payload.length + messageOverheadBytes;
}

export class FrameStream {
  readonly #stream: Http2Stream;
  readonly #reader = new FrameReader();
  #waitingBytes = 0;
  #isCorked = false;
  #drained: Promise<void> | null = null;
  #isLost = false;

  /**
   * @param onFrame may throw: then the stream is closed
   * @param onLost called once, however the stream ends
   */
  constructor(stream: Http2Stream, onFrame: (frame: Frame) => void, onLost: (error: ConnectError) => void) {
    this.#stream = stream;
    const lose = (error: ConnectError): void => {
      if (this.#isLost) return;
      this.#isLost = true;
      onLost(error);
    };
    stream.on("data", (piece: Buffer) => {
      if (this.#isLost) return;
      try {
        for (const frame of this.#reader.frames(piece)) onFrame(frame);
      } catch (error) {
        lose(ConnectError.from(error));
        stream.destroy();
      }
    });
    const cut = (cause?: unknown): void =>
      lose(new ConnectError("the connection was lost", Code.Unavailable, undefined, undefined, cause));
    stream.once("end", () => {
      cut();
      this.end();
    });
    stream.once("close", () => cut());
    stream.on("error", cut);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Frames that are written in the same turn of the event loop are sent together.
   * @returns a promise to await before writing more; null: write on
   * @throws ConnectError if a payload is larger than the other side accepts
   */
  write(call: number, kind: FrameKind, payload?: readonly Uint8Array[]): Promise<void> | null {
    const pieces = frameBytes(call, kind, payload);
    if (this.#isLost || !this.#stream.writable) return null;
    if (!this.#isCorked) this.#cork();
    for (const piece of pieces) {
      const { buffer } = piece;
      if (sentBuffers.has(buffer))
        this.#stream.write(piece, (error) => {
          if (!error) sentBuffers.release(buffer);
        });
      else this.#stream.write(piece);
    }
    return this.#stream.writableLength > aheadBytesMax ? (this.#drained ??= this.#draining()) : null;
  }

  /** Ends sending. */
  end(): void {
    if (this.#stream.writable) this.#stream.end();
  }

  /** A message was received and is unread. @returns the bytes that it counts */
  hold(payload: Uint8Array): number {
    const bytes = waitingBytes(payload);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > waitingBytesMax) this.#stream.pause();
    return bytes;
  }

  /** A message was read. */
  free(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes <= waitingBytesMax && this.#stream.isPaused() && !this.#isLost) this.#stream.resume();
  }

  /** Buffers writes until the microtasks of this turn are done. */
  #cork(): void {
    this.#isCorked = true;
    this.#stream.cork();
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      }),
    );
  }

  #draining(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#drained = null;
        this.#stream.off("drain", done).off("close", done);
        resolve();
      };
      this.#stream.on("drain", done).on("close", done);
    });
  }
}
