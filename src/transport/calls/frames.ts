/**
 * Frames of a stream that carries many calls. Each is
 *
 *     call: 4 bytes | kind: 1 byte | length: 4 bytes | payload        (little-endian)
 *
 * A call is opened with its path, has messages in both directions, and is ended by each side. The server may fail it
 * instead, and the caller may cancel it.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { receivedBuffers } from "../../base/reused-buffers.ts";
import { messageBytesMax } from "../../wire/version.ts";

export type FrameKind = "open" | "message" | "end" | "failure" | "cancel";

const kinds: readonly FrameKind[] = ["open", "message", "end", "failure", "cancel"];
const payloadBytesMax: Readonly<Record<FrameKind, number>> = {
  open: 128,
  message: messageBytesMax,
  end: 0,
  failure: 1 << 16,
  cancel: 0,
};

export const headerBytes = 9;

export interface Frame {
  readonly call: number;
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
}

/** Pieces up to this size are copied behind the header: one short write is cheaper than two. */
const copiedBytesMax = 1 << 12;

/**
 * The bytes of a frame, in one piece or more.
 * @param payload in pieces, one after the other
 * @throws ConnectError if it is larger than the other side accepts
 */
export function frameBytes(call: number, kind: FrameKind, payload: readonly Uint8Array[] = []): Uint8Array[] {
  const length = payload.reduce((sum, piece) => sum + piece.length, 0);
  if (length > payloadBytesMax[kind])
    throw new ConnectError(`a message of ${length} bytes is larger than agreed`, Code.ResourceExhausted);
  const first = payload.length > 0 && payload[0].length <= copiedBytesMax ? payload[0] : null;
  const bytes = Buffer.allocUnsafe(headerBytes + (first?.length ?? 0));
  bytes.writeUInt32LE(call, 0);
  bytes[4] = kinds.indexOf(kind);
  bytes.writeUInt32LE(length, 5);
  if (first === null) return [bytes, ...payload];
  bytes.set(first, headerBytes);
  return [bytes, ...payload.slice(1)];
}

/** From this size on a payload has a buffer of its own, which its reader may release. */
const ownBytesMin = 1 << 16;

function payloadMemory(length: number): Buffer {
  return length < ownBytesMin ? Buffer.allocUnsafe(length) : Buffer.from(receivedBuffers.take(length));
}

/** Assembles frames from received pieces. Lengths are checked before memory is allocated. */
export class FrameReader {
  readonly #header = Buffer.alloc(headerBytes);
  #headerFilled = 0;
  #payload: Buffer | null = null;
  #filled = 0;

  /** @throws ConnectError if the bytes are not valid frames */
  *frames(piece: Buffer): Generator<Frame> {
    for (let at = 0; ;) {
      if (this.#payload === null) {
        const taken = piece.copy(this.#header, this.#headerFilled, at, at + headerBytes - this.#headerFilled);
        this.#headerFilled += taken;
        at += taken;
        if (this.#headerFilled < headerBytes) return;
        this.#payload = payloadMemory(this.#lengthOf(this.#kind()));
        this.#filled = 0;
      }
      const payload = this.#payload;
      const taken = piece.copy(payload, this.#filled, at, at + payload.length - this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < payload.length) return;
      this.#payload = null;
      this.#headerFilled = 0;
      // A plain Uint8Array, whose slice() copies.
      const { buffer, byteOffset, length } = payload;
      yield {
        call: this.#header.readUInt32LE(0),
        kind: this.#kind(),
        payload: new Uint8Array(buffer, byteOffset, length),
      };
    }
  }

  #kind(): FrameKind {
    const kind = kinds[this.#header[4]] as FrameKind | undefined;
    if (kind === undefined) throw new ConnectError("a frame of unknown kind", Code.InvalidArgument);
    return kind;
  }

  #lengthOf(kind: FrameKind): number {
    const length = this.#header.readUInt32LE(5);
    if (length > payloadBytesMax[kind])
      throw new ConnectError(`a frame of ${length} bytes, which is larger than agreed`, Code.ResourceExhausted);
    return length;
  }
}
