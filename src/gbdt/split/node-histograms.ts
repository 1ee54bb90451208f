/**
 * The histograms of one party's own features, node by node of a growing tree. Of a pair only the smaller child is
 * summed; the larger one is derived by subtraction, exactly. Large sums are computed by the native addon, on its own
 * threads.
 */
import { availableParallelism } from "node:os";
import { assert } from "../../base/assert.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { type BinnedFeature, totalBinCount } from "./binning.ts";
import { featureHistogram, rowStride, subtractRows } from "./histogram.ts";
import { type PlainAddon, plainAddon } from "../../base/plain-addon.ts";

/** Below this many additions the overhead of an addon call exceeds its benefit. */
const additionsMin = 4096;
/** Memory limit for nodes that may be parents; others are summed again. */
const keptBytesMax = 256 << 20;

/** The node of a histogram. */
export interface SummedNode {
  readonly id: number;
  readonly sampled: Uint32Array;
}

/** Histograms of some features of a node, one after the other. */
export interface NodeHistogram {
  /** Ascending indices of the features. */
  readonly features: Uint32Array;
  readonly rows: Float64Array;
}

/** Each feature's index, and its part of a histogram. */
export function* featureParts(
  { features, rows }: NodeHistogram,
  all: readonly BinnedFeature[],
  columnCount: number,
): Generator<readonly [index: number, histogram: Float64Array]> {
  let first = 0;
  for (const index of features) {
    const size = totalBinCount(all[index]) * rowStride(columnCount);
    yield [index, rows.subarray(first, first + size)];
    first += size;
  }
}

export class NodeHistograms {
  readonly #features: readonly BinnedFeature[];
  readonly #gradients: QuantisedGradients;
  readonly #addon: PlainAddon | null;
  readonly #kept = new Map<number, NodeHistogram>();
  #keptBytes = 0;

  constructor(
    features: readonly BinnedFeature[],
    gradients: QuantisedGradients,
    addon: PlainAddon | null = plainAddon(),
  ) {
    this.#features = features;
    this.#gradients = gradients;
    this.#addon = addon;
  }

  /** @param drawn the features that may split the node */
  async root(node: SummedNode, drawn: Uint32Array): Promise<NodeHistogram> {
    return this.#keep(node, await this.#sum(node, drawn));
  }

  /** Both children of a node. The parent's histogram is released. */
  async children(
    parent: SummedNode,
    [left, right]: readonly [SummedNode, SummedNode],
    drawn: readonly [Uint32Array, Uint32Array],
  ): Promise<[NodeHistogram, NodeHistogram]> {
    const above = this.#take(parent);
    const isLeftSmaller = left.sampled.length <= right.sampled.length;
    const [smaller, larger] = isLeftSmaller ? [0, 1] : [1, 0];
    const nodes = [left, right];
    const summed = await this.#sum(nodes[smaller], drawn[smaller]);
    const isDerived = above !== null && isSame(above.features, drawn[smaller]) && isSame(above.features, drawn[larger]);
    const other = isDerived
      ? { features: above.features, rows: subtractRows(above.rows, summed.rows) }
      : await this.#sum(nodes[larger], drawn[larger]);
    this.#keep(nodes[smaller], summed);
    this.#keep(nodes[larger], other);
    return isLeftSmaller ? [summed, other] : [other, summed];
  }

  async #sum({ sampled }: SummedNode, drawn: Uint32Array): Promise<NodeHistogram> {
    const { columns } = this.#gradients;
    const binCounts = Uint32Array.from(drawn, (index) => totalBinCount(this.#features[index]));
    const rows = new Float64Array(binCounts.reduce((sum, count) => sum + count, 0) * rowStride(columns.length));
    const isNative = this.#addon !== null && sampled.length * drawn.length >= additionsMin;
    if (!isNative) {
      let first = 0;
      for (const index of drawn) {
        const histogram = featureHistogram(this.#features[index], this.#gradients, sampled);
        rows.set(histogram, first);
        first += histogram.length;
      }
      return { features: drawn, rows };
    }
    const bins = Array.from(drawn, (index) => this.#features[index].bins);
    const threads = Math.min(availableParallelism(), 256);
    const refused = await this.#addon.plainHistogram(columns, sampled, bins, binCounts, rows, threads);
    assert(refused === -1, "every instance that is summed has a bin");
    return { features: drawn, rows };
  }

  #keep({ id }: SummedNode, histogram: NodeHistogram): NodeHistogram {
    const { byteLength } = histogram.rows;
    if (this.#keptBytes + byteLength > keptBytesMax) return histogram;
    this.#kept.set(id, histogram);
    this.#keptBytes += byteLength;
    return histogram;
  }

  #take({ id }: SummedNode): NodeHistogram | null {
    const kept = this.#kept.get(id) ?? null;
    this.#kept.delete(id);
    this.#keptBytes -= kept?.rows.byteLength ?? 0;
    return kept;
  }
}

function isSame(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((feature, i) => feature === b[i]);
}
