/**
 * A typed array of unknown final length. Numbers are kept in chunks, so that growing copies nothing: one array that
 * doubles would take up to three times the memory. A large chunk is released as soon as it has been copied, rather than
 * by the garbage collector.
 */
type Numbers = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

interface NumbersOf<T> {
  new (length: number): T;
  new (buffer: ArrayBuffer, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

const firstChunkLength = 1024;
const chunkLengthMax = 1 << 18;

export class GrowingNumbers<T extends Numbers> {
  readonly #make: NumbersOf<T>;
  #chunks: T[] = [];
  /** Of the last chunk. */
  #used = 0;
  #length = 0;

  constructor(make: NumbersOf<T>) {
    this.#make = make;
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const chunk = this.#chunkWithRoom();
    chunk[this.#used++] = value;
    this.#length++;
  }

  append(values: ArrayLike<number> & { subarray(first: number, end: number): ArrayLike<number> }): void {
    for (let taken = 0; taken < values.length;) {
      const chunk = this.#chunkWithRoom();
      const count = Math.min(chunk.length - this.#used, values.length - taken);
      chunk.set(values.subarray(taken, taken + count), this.#used);
      taken += count;
      this.#used += count;
      this.#length += count;
    }
  }

  /** All numbers in one array; this object is empty afterwards. */
  finish(): T {
    const all = new this.#make(this.#length);
    let at = 0;
    for (const [i, chunk] of this.#chunks.entries()) {
      const used = i === this.#chunks.length - 1 ? this.#used : chunk.length;
      all.set(chunk.subarray(0, used), at);
      at += used;
      giveBack(chunk.buffer);
    }
    this.#chunks = [];
    this.#used = 0;
    this.#length = 0;
    return all;
  }

  #chunkWithRoom(): T {
    const last = this.#chunks.at(-1);
    if (last !== undefined && this.#used < last.length) return last;
    const next = this.#newChunk(last === undefined ? firstChunkLength : 2 * last.length);
    this.#chunks.push(next);
    this.#used = 0;
    return next;
  }

  /** Small chunks are plain: each of the others is a separate memory mapping, whose number is limited. */
  #newChunk(wanted: number): T {
    if (wanted < chunkLengthMax) return new this.#make(wanted);
    const bytes = chunkLengthMax * this.#make.BYTES_PER_ELEMENT;
    return new this.#make(returnableBuffer(bytes), 0, chunkLengthMax);
  }
}

/** Available in Node 20 (ECMAScript 2024), but not in the types that we compile with. */
interface ResizableBuffer extends ArrayBuffer {
  readonly resizable: boolean;
  resize(byteLength: number): void;
}

function returnableBuffer(bytes: number): ArrayBuffer {
  const Resizable = ArrayBuffer as unknown as new (
    byteLength: number,
    options: { readonly maxByteLength: number },
  ) => ResizableBuffer;
  return new Resizable(bytes, { maxByteLength: bytes });
}

function giveBack(buffer: ArrayBuffer): void {
  const { resizable } = buffer as ResizableBuffer;
  if (resizable) (buffer as ResizableBuffer).resize(0);
}
