/**
 * A3: upper bound of the information in noisy sums, for any algorithm. Every answered row is a linear function of bin
 * membership, plus noise. Such a channel carries at most 1/2 log2 det(I + A V A' / 2 s^2) bits, with the rows A, the
 * remaining variance V per instance, and the noise s^2 twice, since a bin is the difference of two thresholds. It
 * bounds what sums add about single instances, beyond averages over similar ones.
 *
 * One spectrum serves all columns: V is the same for all instances, the mean remaining variance of a bin.
 */
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import { realSum } from "../../base/gradients/quantised-gradients.ts";
import { eigenvalues } from "./eigenvalues.ts";
import type { SeenNode, SeenTree, Transcript } from "./transcript.ts";

/** Of every slot, in the integers of its grid. Sums with noise have no counts. */
export type AnswerNoise = Pick<NoiseScale, "sigma">;

/** Rows per matrix. With more rows the bound is the sum of the bounds of several chunks of trees. */
const rowsMax = 800;

/** Bits per instance and bin, as a function of the bin's remaining variance. */
export class Capacity {
  readonly #spectrum: readonly number[];
  readonly #summedCount: number;

  constructor(transcript: Transcript, noise: AnswerNoise) {
    this.#summedCount = transcript.trees[0]?.nodes[0]?.summed.length ?? 0;
    this.#spectrum = chunksOf(transcript, noise).flatMap((rows) =>
      eigenvalues(products(rows, transcript.instanceCount)),
    );
  }

  bits(variance: number): number {
    const sum = this.#spectrum.reduce((bits, value) => bits + Math.log2(1 + (Math.max(0, value) * variance) / 2), 0);
    return this.#summedCount === 0 ? 0 : sum / 2 / this.#summedCount;
  }
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
