/**
 * What a line carries, a direct connection between a worker and its party: frames of a length (4 bytes, big endian) and
 * that many bytes.
 *
 *   worker to party   CrewLineHello, sealed; then one CrewWanted for each payload that it asks for
 *   party to worker   the payloads, in the order of the questions; an empty one: the party does not have it
 */
import { TandemError } from "../../base/error.ts";

export const headerBytes = 4;

export function frameHeader(length: number): Uint8Array {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32BE(length);
  return header;
}

export function framed(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([frameHeader(bytes.length), bytes]);
}

/** Assembles frames from received pieces. The length is checked before memory is allocated. */
export class FrameReader {
  readonly #bytesMax: number;
  readonly #onFrame: (frame: Uint8Array) => void;
  readonly #header = Buffer.alloc(headerBytes);
  #headerFilled = 0;
  #frame: Buffer | null = null;
  #filled = 0;

  constructor(bytesMax: number, onFrame: (frame: Uint8Array) => void) {
    this.#bytesMax = bytesMax;
    this.#onFrame = onFrame;
  }

  /** @throws TandemError PROTOCOL_STATE if a frame is too long */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#frame === null) {
        this.#header[this.#headerFilled++] = bytes[at++];
        if (this.#headerFilled < headerBytes) continue;
        const length = this.#header.readUInt32BE();
        if (length > this.#bytesMax)
          throw new TandemError("PROTOCOL_STATE", `a frame of ${length} bytes; at most ${this.#bytesMax} are expected`);
        this.#headerFilled = 0;
        this.#filled = 0;
        this.#frame = Buffer.allocUnsafeSlow(length);
      } else {
        const end = Math.min(bytes.length, at + this.#frame.length - this.#filled);
        this.#frame.set(bytes.subarray(at, end), this.#filled);
        this.#filled += end - at;
        at = end;
      }
      if (this.#filled < this.#frame.length) continue;
      const frame = this.#frame;
      this.#frame = null;
      this.#onFrame(frame);
    }
  }
}
