/**
 * The bytes of the vectors that an evaluator holds in this process's memory: one flat buffer each. Only this folder may
 * import this module (scripts/check-layers.mjs): elsewhere a vector is an opaque handle.
 */
import { assert } from "../../base/assert.ts";
import type { PublicKey } from "./keys.ts";
import { type HeldVector, ObfuscatorVector, ResidentVector } from "./vectors.ts";

/** The elements of a vector, and the key and kernel that determine their format. */
interface Holding {
  /** Null once it is freed. */
  bytes: Uint8Array | null;
  readonly kernelName: string;
  readonly key: PublicKey;
}

/*
 * A field of the handle, under a name that only this module knows. A WeakMap would hide it as well, but its values
 * outlive their handles until the next full garbage collection, and these buffers are large.
 */
const held = Symbol("held");

const usedAfterFree = "a vector is not used after it was freed";

class ResidentInMemory extends ResidentVector {
  readonly [held]: Holding;

  constructor(count: number, holding: Holding) {
    super(count);
    this[held] = holding;
  }
}

class ObfuscatorsInMemory extends ObfuscatorVector {
  readonly [held]: Holding;

  constructor(count: number, holding: Holding) {
    super(count);
    this[held] = holding;
  }
}

/** The vectors of one key on one kernel. Evaluators with the same key and kernel accept each other's vectors. */
export class VectorMemory {
  readonly #kernelName: string;
  readonly #key: PublicKey;
  /** Width of one element. */
  readonly sizeBytes: number;

  constructor(kernelName: string, key: PublicKey) {
    this.#kernelName = kernelName;
    this.#key = key;
    this.sizeBytes = residentBytes(key);
  }

  allocate(count: number): ResidentVector {
    return this.residents(new Uint8Array(count * this.sizeBytes));
  }

  residents(bytes: Uint8Array): ResidentVector {
    return new ResidentInMemory(bytes.length / this.sizeBytes, this.#hold(bytes));
  }

  obfuscators(bytes: Uint8Array): ObfuscatorVector {
    return new ObfuscatorsInMemory(bytes.length / this.sizeBytes, this.#hold(bytes));
  }

  /** The vector's own bytes, not a copy. Rejects vectors of another key or kernel. */
  bytes(vector: HeldVector): Uint8Array {
    const { bytes } = this.#holding(vector);
    assert(bytes !== null, usedAfterFree);
    return bytes;
  }

  /** A view: no bytes are copied. */
  slice<V extends HeldVector>(vector: V, first: number, count: number): V {
    const bytes = this.bytes(vector);
    assert(
      Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1 && first + count <= vector.count,
      "a slice is not empty and lies inside its vector",
    );
    return this.#like(vector, bytes.subarray(first * this.sizeBytes, (first + count) * this.sizeBytes));
  }

  /** A copy. */
  join<V extends HeldVector>(vectors: readonly V[]): V {
    assert(vectors.length >= 1, "there is something to join");
    const parts = vectors.map((vector) => this.bytes(vector));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return this.#like(vectors[0], bytes);
  }

  /** Drops the buffer; views of it keep theirs. */
  free(vector: HeldVector): void {
    const holding = this.#holding(vector);
    assert(holding.bytes !== null, usedAfterFree);
    holding.bytes = null;
  }

  #like<V extends HeldVector>(vector: V, bytes: Uint8Array): V {
    const made: HeldVector = vector.kind === "resident" ? this.residents(bytes) : this.obfuscators(bytes);
    return made as V;
  }

  #hold(bytes: Uint8Array): Holding {
    assert(bytes.length % this.sizeBytes === 0, "a vector's bytes are whole elements");
    return { bytes, kernelName: this.#kernelName, key: this.#key };
  }

  #holding(vector: HeldVector): Holding {
    assert(
      vector instanceof ResidentInMemory || vector instanceof ObfuscatorsInMemory,
      "a vector was made by an evaluator of this process",
    );
    const holding = vector[held];
    assert(holding.kernelName === this.#kernelName, "a vector is used by the kernel that made it");
    assert(holding.key.n === this.#key.n, "a vector is used with the key that it was made for");
    return holding;
  }
}

/** In resident form a residue modulo n^2 takes two numbers modulo n, each in whole 64-bit limbs. */
function residentBytes(key: PublicKey): number {
  return 16 * Math.ceil(key.bits / 64);
}
