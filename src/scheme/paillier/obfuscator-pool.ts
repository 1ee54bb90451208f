/**
 * Obfuscators precomputed while a party waits for others and a core is idle. Each is handed out exactly once and kept
 * in memory only.
 */
import { coresIdle } from "../../base/scheduling/idle-cores.ts";
import type { PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import type { ObfuscatorVector } from "../../crypto/paillier/vectors.ts";

export class ObfuscatorPool {
  readonly #evaluator: Pick<PublicEvaluator, "slice" | "join" | "free">;
  readonly #make: (count: number) => Promise<ObfuscatorVector>;
  /** Batch size in the background: small, so that urgent work waits only briefly for the cores. */
  readonly #batch: number;
  #stock: ObfuscatorVector[] = [];
  #stockCount = 0;
  #toMake = 0;
  #isFilling = false;
  /** The batch that is being computed. */
  #making: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  readonly #untilIdle: (isUrgent: () => boolean) => Promise<void>;

  /** @param evaluator the owner of the vectors that `make` returns */
  constructor(
    evaluator: Pick<PublicEvaluator, "slice" | "join" | "free">,
    make: (count: number) => Promise<ObfuscatorVector>,
    batch: number,
    untilIdle = coresIdle,
  ) {
    this.#evaluator = evaluator;
    this.#make = make;
    this.#batch = batch;
    this.#untilIdle = untilIdle;
  }

  /** Fills the stock up to `count` in the background. */
  prepare(count: number): void {
    this.#toMake = Math.max(0, count - this.#stockCount);
    if (!this.#isFilling) void this.#fill();
  }

  /** How many can be taken without waiting. */
  get stock(): number {
    return this.#stockCount;
  }

  /** Stops computing more; the stock stays. Settles when nothing is being computed. */
  async pause(): Promise<void> {
    this.#toMake = 0;
    await this.#making;
  }

  /** @throws any error of `make` */
  async take(count: number): Promise<ObfuscatorVector> {
    if (this.#failure !== null) throw this.#failure.error;
    const missing = Math.max(0, count - this.#stockCount);
    const parts = this.#fromStock(count - missing);
    if (missing > 0) {
      this.#toMake = Math.max(0, this.#toMake - missing);
      parts.push(await this.#make(missing));
    }
    if (parts.length === 1) return parts[0];
    const joined = this.#evaluator.join(parts);
    for (const part of parts) this.#evaluator.free(part);
    return joined;
  }

  async #fill(): Promise<void> {
    this.#isFilling = true;
    while (this.#toMake > 0) {
      await this.#untilIdle(() => this.#toMake === 0);
      const count = Math.min(this.#batch, this.#toMake);
      if (count === 0) break;
      this.#making = this.#add(count);
      await this.#making;
    }
    this.#isFilling = false;
  }

  async #add(count: number): Promise<void> {
    try {
      const made = await this.#make(count);
      this.#stock.push(made);
      this.#stockCount += count;
      this.#toMake = Math.max(0, this.#toMake - count);
    } catch (error) {
      this.#failure = { error };
      this.#toMake = 0;
    }
  }

  #fromStock(count: number): ObfuscatorVector[] {
    this.#stockCount -= count;
    const parts: ObfuscatorVector[] = [];
    let wanted = count;
    while (wanted > 0) {
      const [next] = this.#stock;
      if (next.count <= wanted) {
        this.#stock.shift();
        parts.push(next);
        wanted -= next.count;
      } else {
        parts.push(this.#evaluator.slice(next, 0, wanted));
        this.#stock[0] = this.#evaluator.slice(next, wanted, next.count - wanted);
        this.#evaluator.free(next);
        wanted = 0;
      }
    }
    return parts;
  }
}
