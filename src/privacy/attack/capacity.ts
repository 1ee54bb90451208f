/**
 * A3: how much noisy sums can say at most, whatever the algorithm. Every answered row is a linear function of who is in
 * a bin, plus noise; a channel of that kind carries at most 1/2 log2 det(I + A V A' / 2 s^2) bits, with the rows A, the
 * variance V that is left per person, and the noise s^2 twice, since a bin is the difference of two thresholds. It is
 * what sums add about persons, beyond averages over people like them.
 *
 * One spectrum serves all columns: V is the same for all people, the mean of what is left of a bin.
 */
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import { realSum } from "../../base/gradients/quantised-gradients.ts";
import { eigenvalues } from "./eigenvalues.ts";
import type { SeenNode, SeenTree, Transcript } from "./transcript.ts";

/** Of every slot, in the integers of its grid. Where sums have noise, no count travels. */
export type AnswerNoise = Pick<NoiseScale, "sigma">;

/** Rows beyond this many are not put together: the bound is then the sum of those of some trees each. */
const rowsMax = 800;

/** Bits per person and bin, as a function of the variance that is left of it. */
export class Capacity {
  readonly #spectrum: readonly number[];
  readonly #people: number;

  constructor(transcript: Transcript, noise: AnswerNoise) {
    this.#people = transcript.trees[0]?.nodes[0]?.summed.length ?? 0;
    this.#spectrum = chunksOf(transcript, noise).flatMap((rows) =>
      eigenvalues(products(rows, transcript.instanceCount)),
    );
  }

  bits(variance: number): number {
    const sum = this.#spectrum.reduce((bits, value) => bits + Math.log2(1 + (Math.max(0, value) * variance) / 2), 0);
    return this.#people === 0 ? 0 : sum / 2 / this.#people;
  }
}

/** A row of A: whom it is over, and each one's value in units of the noise. */
interface NoisyRow {
  readonly members: Uint32Array;
  readonly values: Float64Array;
}

/** Information of independent noise adds up at most: parts of the rows bound the whole. */
function chunksOf({ trees }: Transcript, noise: AnswerNoise): NoisyRow[][] {
  const chunks: NoisyRow[][] = [[]];
  for (const tree of trees) {
    const rows = sentNodes(tree).flatMap((node) => rowsAt(tree, node, noise));
    if (chunks[chunks.length - 1].length + rows.length > rowsMax) chunks.push([]);
    chunks[chunks.length - 1].push(...rows);
  }
  return chunks.filter((rows) => rows.length > 0);
}

/** The root and the smaller child of each pair; the others follow from these. */
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
function products(rows: readonly NoisyRow[], people: number): Float64Array[] {
  const matrix = rows.map(() => new Float64Array(rows.length));
  const dense = new Float64Array(people);
  rows.forEach(({ members, values }, a) => {
    members.forEach((person, i) => (dense[person] = values[i]));
    for (let b = 0; b <= a; b++) {
      const other = rows[b];
      let sum = 0;
      for (let i = 0; i < other.members.length; i++) sum += dense[other.members[i]] * other.values[i];
      matrix[a][b] = sum;
      matrix[b][a] = sum;
    }
    for (const person of members) dense[person] = 0;
  });
  return matrix;
}
