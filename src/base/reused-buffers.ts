/**
 * Memory of large messages, used again. A fresh page costs more than writing it does, and each buffer a part of a
 * garbage collection. A buffer is used again when its last reader has released it; one that is never released is
 * collected like any other.
 */

/** Free bytes that are kept. */
const freeBytesMax = 32 << 20;

export class ReusedBuffers {
  /** Free buffers by their size. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;
  /** Readers that have not released a buffer. */
  readonly #readers = new WeakMap<ArrayBufferLike, number>();

  /** A buffer of this size with any content. @param readers how often it must be released */
  take(bytes: number, readers = 1): ArrayBuffer {
    const used = this.#free.get(bytes)?.pop();
    if (used !== undefined) this.#freeBytes -= bytes;
    const buffer = used ?? Buffer.allocUnsafeSlow(bytes).buffer;
    this.#readers.set(buffer, readers);
    return buffer;
  }

  /** Whether a buffer is from here, and not free. */
  has(buffer: ArrayBufferLike): boolean {
    return this.#readers.has(buffer);
  }

  /** One of its readers will not read it any more. No effect on other buffers. */
  release(buffer: ArrayBufferLike): void {
    const left = this.#readers.get(buffer);
    if (left === undefined) return;
    if (left > 1) {
      this.#readers.set(buffer, left - 1);
      return;
    }
    this.#readers.delete(buffer);
    const bytes = buffer.byteLength;
    if (this.#freeBytes + bytes > freeBytesMax) return;
    const ofSize = this.#free.get(bytes);
    if (ofSize === undefined) this.#free.set(bytes, [buffer as ArrayBuffer]);
    else ofSize.push(buffer as ArrayBuffer);
    this.#freeBytes += bytes;
  }
}

/** Of messages that are made here, and sent to one party or more. */
export const sentBuffers = new ReusedBuffers();
/** Of messages that were received, each for one reader. */
export const receivedBuffers = new ReusedBuffers();
