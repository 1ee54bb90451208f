/**
 * One end of a stream that carries many calls: frames that come, frames that go, and how many may wait. A side that
 * does not read its messages stops the other: no more than a few megabytes wait here, and HTTP/2's window is the rest.
 */
import type { Http2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Frame, frameBytes, type FrameKind, FrameReader } from "./frames.ts";

/** Unread messages of all calls together: beyond this nothing is taken from the connection. */
const waitingBytesMax = 4 << 20;
/** Besides its bytes, for each of them: a flood of empty messages must not count as nothing. */
const messageOverheadBytes = 64;
/** Bytes that a writer may be ahead of the connection. */
const aheadBytesMax = 1 << 20;

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
   * Frames that are written in one go travel together.
   * @returns what to wait for before more is written; null: nothing
   * @throws ConnectError if a payload is larger than the other side takes
   */
  write(call: number, kind: FrameKind, payload?: readonly Uint8Array[]): Promise<void> | null {
    const pieces = frameBytes(call, kind, payload);
    if (this.#isLost || !this.#stream.writable) return null;
    if (!this.#isCorked) this.#cork();
    for (const piece of pieces) this.#stream.write(piece);
    return this.#stream.writableLength > aheadBytesMax ? (this.#drained ??= this.#draining()) : null;
  }

  /** Nothing more is sent. */
  end(): void {
    if (this.#stream.writable) this.#stream.end();
  }

  /** A message has come and waits. @returns what it counts */
  hold(payload: Uint8Array): number {
    const bytes = payload.length + messageOverheadBytes;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > waitingBytesMax) this.#stream.pause();
    return bytes;
  }

  /** Messages have been read. */
  free(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes <= waitingBytesMax && this.#stream.isPaused() && !this.#isLost) this.#stream.resume();
  }

  /** Until nobody has anything to say for now: after the microtasks of this turn. */
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
