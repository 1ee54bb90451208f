/**
 * A3: upper bound of the information in noisy sums, for any algorithm. Every answered row is a linear function of bin
 * membership, plus noise: row r and candidate k of a column give A_r C_k + e, with the gradients A_r of a node's
 * instances, the sides C_k that they are on, and a draw of its own for each pair. With the eigenvalues lambda of A A' /
 * s^2 and nu of the covariance of an instance's sides, such a channel carries at most 1/2 sum log2(1 + lambda nu) bits.
 * The sides of neighbouring thresholds are nearly the same, so the sum over both spectra is more than that over single
 * bins. It bounds what sums add about single instances, beyond averages over similar ones.
 *
 * One spectrum of rows serves all columns: one covariance stands for those of all instances, their mean weighted by
 * squared gradients. It has the trace of the whole channel, so with much noise the bound is right to the first order.
 */
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import { realSum } from "../../base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { candidatesOf, leftBins } from "../../gbdt/split/candidate.ts";
import { distinctPartitions } from "../../gbdt/split/distinct-partitions.ts";
import { eigenvalues } from "./eigenvalues.ts";
import type { PossibleBins } from "./possible-bins.ts";
import type { SeenNode, SeenTree, Transcript } from "./transcript.ts";

/** Of every slot, in the integers of its grid. Sums with noise have no counts. */
export type AnswerNoise = Pick<NoiseScale, "sigma">;

/** Rows per matrix. With more rows the bound is the sum of the bounds of several chunks of trees. */
const rowsMax = 800;

/** Bits per instance of one column. */
export class Capacity {
  readonly #spectrum: readonly number[];
  readonly #summedCount: number;
  /** Per instance the sum of its squared gradients in all rows. */
  readonly power: Float64Array;

  constructor(transcript: Transcript, noise: AnswerNoise) {
    this.#summedCount = transcript.trees[0]?.nodes[0]?.summed.length ?? 0;
    const chunks = chunksOf(transcript, noise);
    this.#spectrum = chunks.flatMap((rows) => eigenvalues(products(rows, transcript.instanceCount)));
    this.power = new Float64Array(transcript.instanceCount);
    for (const { members, values } of chunks.flat())
      members.forEach((instance, i) => (this.power[instance] += values[i] ** 2));
  }

  /** @param covariance of the sides of the column's candidates, for an instance (sideCovariance); overwritten */
  bits(covariance: Float64Array[]): number {
    if (this.#summedCount === 0) return 0;
    let sum = 0;
    for (const side of eigenvalues(covariance)) {
      if (side <= 0) continue;
      for (const value of this.#spectrum) sum += Math.log2(1 + Math.max(0, value) * side);
    }
    return sum / 2 / this.#summedCount;
  }
}

/**
 * What remains unknown of an instance's sides, as the covariance of the candidates that have draws of their own.
 * @param left the bins that are still possible
 * @param weights of instances in the mean
 */
export function sideCovariance(feature: BinnedFeature, left: PossibleBins, weights: Float64Array): Float64Array[] {
  const own = distinctPartitions(feature).flatMap(({ first }, i) => (first === i ? [i] : []));
  const candidates = candidatesOf(feature);
  const sides = own.map((i) => leftBins(feature, candidates[i]));
  const bins = left.covariance(weights);
  const products = sides.map((side) => bins.map((row) => row.reduce((sum, value, bin) => sum + value * side[bin], 0)));
  return sides.map((_, a) =>
    Float64Array.from(sides, (side) => products[a].reduce((sum, value, bin) => sum + value * side[bin], 0)),
  );
}

/** A row of A: its instances, and their values in units of the noise. */
interface NoisyRow {
  readonly members: Uint32Array;
  readonly values: Float64Array;
}

/** With independent noise the information of all rows is at most the sum over chunks of rows. */
function chunksOf({ trees }: Transcript, noise: AnswerNoise): NoisyRow[][] {
  const chunks: NoisyRow[][] = [[]];
  for (const tree of trees) {
    const rows = sentNodes(tree).flatMap((node) => rowsAt(tree, node, noise));
    if (chunks[chunks.length - 1].length + rows.length > rowsMax) chunks.push([]);
    chunks[chunks.length - 1].push(...rows);
  }
  return chunks.filter((rows) => rows.length > 0);
}

/** The root and the smaller child of each pair; sums of the others follow by subtraction. */
export function sentNodes({ nodes }: SeenTree): SeenNode[] {
  return nodes.filter((node) => {
    const sibling = nodes.find(({ id, parent }) => parent === node.parent && id !== node.id);
    if (node.parent < 0 || sibling === undefined) return true;
    const [own, other] = [node.summed.length, sibling.summed.length];
    return own < other || (own === other && node.id < sibling.id);
  });
}

function rowsAt({ gradients }: SeenTree, { summed }: SeenNode, noise: AnswerNoise): NoisyRow[] {
  const { grids, columns } = gradients;
  const limbs = columns.length / grids.length;
  return grids.map((grid, slot) => {
    const sigma = noise.sigma * grid.resolution;
    const at = (i: number): number =>
      limbs === 1 ? columns[slot][i] : columns[2 * slot][i] * 2 ** 26 + columns[2 * slot + 1][i];
    return { members: summed, values: Float64Array.from(summed, (i) => realSum(grid, at(i), 1) / sigma) };
  });
}

/** A A', row by row. */
function products(rows: readonly NoisyRow[], instanceCount: number): Float64Array[] {
  const matrix = rows.map(() => new Float64Array(rows.length));
  const dense = new Float64Array(instanceCount);
  rows.forEach(({ members, values }, a) => {
    members.forEach((instance, i) => (dense[instance] = values[i]));
    for (let b = 0; b <= a; b++) {
      const other = rows[b];
      let sum = 0;
      for (let i = 0; i < other.members.length; i++) sum += dense[other.members[i]] * other.values[i];
      matrix[a][b] = sum;
      matrix[b][a] = sum;
    }
    for (const instance of members) dense[instance] = 0;
  });
  return matrix;
}
