/**
 * Obfuscators made ahead of time, while a party waits for others and a core is idle. Each is handed out exactly once;
 * none is ever stored outside memory.
 */
import { coresIdle } from "../../base/idle-cores.ts";
import { ObfuscatorVector } from "../../crypto/paillier/vectors.ts";

export class ObfuscatorPool {
  readonly #make: (count: number) => Promise<ObfuscatorVector>;
  /** Made at a time in the background: small, so that urgent work waits only briefly for the cores. */
  readonly #batch: number;
  #stock: Uint8Array[] = [];
  #stockCount = 0;
  #toMake = 0;
  #filling = false;
  #failure: { readonly error: unknown } | null = null;

  readonly #untilIdle: (isUrgent: () => boolean) => Promise<void>;

  constructor(make: (count: number) => Promise<ObfuscatorVector>, batch: number, untilIdle = coresIdle) {
    this.#make = make;
    this.#batch = batch;
    this.#untilIdle = untilIdle;
  }

  /** Sees to it in the background that `count` are in stock. */
  prepare(count: number): void {
    this.#toMake = Math.max(0, count - this.#stockCount);
    if (!this.#filling) void this.#fill();
  }

  /** How many can be taken without waiting. */
  get stock(): number {
    return this.#stockCount;
  }

  /** Stops making more; what is in stock stays. */
  pause(): void {
    this.#toMake = 0;
  }

  /** @throws whatever making them threw */
  async take(count: number): Promise<ObfuscatorVector> {
    if (this.#failure !== null) throw this.#failure.error;
    const missing = Math.max(0, count - this.#stockCount);
    const held = this.#fromStock(count - missing);
    if (missing === 0) return joined(held);
    this.#toMake = Math.max(0, this.#toMake - missing);
    const fresh = await this.#make(missing);
    return held.length === 0 ? fresh : joined([...held, ...elements(fresh)]);
  }

  async #fill(): Promise<void> {
    this.#filling = true;
    try {
      while (this.#toMake > 0) {
        await this.#untilIdle(() => this.#toMake === 0);
        const count = Math.min(this.#batch, this.#toMake);
        if (count === 0) break;
        const made = await this.#make(count);
        this.#stock.push(...elements(made));
        this.#stockCount += count;
        this.#toMake = Math.max(0, this.#toMake - count);
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#filling = false;
  }

  #fromStock(count: number): Uint8Array[] {
    this.#stockCount -= count;
    return this.#stock.splice(0, count);
  }
}

function elements(vector: ObfuscatorVector): Uint8Array[] {
  return Array.from({ length: vector.count }, (_, i) =>
    vector.bytes.subarray(i * vector.sizeBytes, (i + 1) * vector.sizeBytes),
  );
}

function joined(parts: readonly Uint8Array[]): ObfuscatorVector {
  const sizeBytes = parts[0].length;
  const bytes = new Uint8Array(parts.length * sizeBytes);
  parts.forEach((part, i) => bytes.set(part, i * sizeBytes));
  return new ObfuscatorVector(bytes, sizeBytes);
}
