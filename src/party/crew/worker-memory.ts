/**
 * Whether a worker may take one block more. A block's room for ciphertexts is taken when it is read, but the system
 * counts it only when they come: so what is reserved counts, and the next block is taken to need what the others do.
 */
export interface MemoryUse {
  readonly rss: number;
  /** Buffers, whether anything was written into them or not. */
  readonly external: number;
}

export class WorkerMemory {
  readonly #bytesMax: number;
  readonly #look: () => MemoryUse;
  readonly #first: MemoryUse;

  /** @param bytesMax undefined: no bound */
  constructor(bytesMax: number | undefined, look: () => MemoryUse = process.memoryUsage) {
    this.#bytesMax = bytesMax ?? Infinity;
    this.#look = look;
    this.#first = look();
  }

  hasRoom(blockCount: number): boolean {
    if (this.#bytesMax === Infinity) return true;
    const { rss, external } = this.#look();
    const used = Math.max(rss, this.#first.rss + external - this.#first.external);
    const perBlock = blockCount === 0 ? 0 : (used - this.#first.rss) / blockCount;
    return used + perBlock < this.#bytesMax;
  }
}
