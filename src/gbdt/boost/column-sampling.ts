/**
 * Which of a party's features may split a node: colsample_bytree of all for a tree, colsample_bylevel of those for a
 * level, colsample_bynode of those for a node, as in XGBoost. Each party draws among its own features, from the job's
 * seed and its own secret, so that no other party knows which were drawn; the same seed and secret always draw the same
 * features.
 */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { SeededRandom } from "../../base/random.ts";

export interface ColumnRates {
  readonly byTree: number;
  readonly byLevel: number;
  readonly byNode: number;
}

export function toColumnRates(parameters: TrainingParameters): ColumnRates {
  return {
    byTree: parameters.colsample_bytree,
    byLevel: parameters.colsample_bylevel,
    byNode: parameters.colsample_bynode,
  };
}

export interface NodePlace {
  readonly tree: number;
  readonly depth: number;
  readonly node: number;
}

export class ColumnSampler {
  readonly #rates: ColumnRates;
  readonly #seed: string;

  constructor(rates: ColumnRates, seed: number, secret: string) {
    this.#rates = rates;
    this.#seed = `columns/${seed}/${secret}`;
  }

  /** Every feature may split every node. */
  get takesAll(): boolean {
    const { byTree, byLevel, byNode } = this.#rates;
    return byTree === 1 && byLevel === 1 && byNode === 1;
  }

  /** All nodes of a tree have the same features: only then can a sibling's sums be derived from its parent's. */
  get isFixedPerTree(): boolean {
    return this.#rates.byLevel === 1 && this.#rates.byNode === 1;
  }

  /** @returns ascending indices of the features that may split a node, at least one if there are any */
  at({ tree, depth, node }: NodePlace, featureCount: number): Uint32Array {
    let features = Uint32Array.from({ length: featureCount }, (_, i) => i);
    if (this.takesAll) return features;
    const { byTree, byLevel, byNode } = this.#rates;
    features = draw(features, byTree, `${this.#seed}/${tree}`);
    features = draw(features, byLevel, `${this.#seed}/${tree}/level ${depth}`);
    return draw(features, byNode, `${this.#seed}/${tree}/node ${node}`);
  }
}

function draw(features: Uint32Array<ArrayBuffer>, rate: number, seed: string): Uint32Array<ArrayBuffer> {
  if (rate === 1 || features.length === 0) return features;
  const count = Math.max(1, Math.floor(rate * features.length)); // XGBoost's ColumnSampler
  const order = new SeededRandom(seed).permutation(features.length);
  return Uint32Array.from(order.subarray(0, count).sort(), (place) => features[place]);
}
