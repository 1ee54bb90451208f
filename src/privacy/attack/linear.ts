/**
 * A6: the best linear guess of which people are on one side of a candidate, from all of its noisy sums: those of a job,
 * or of several jobs about the same people, whose noise is averaged with them. With the sides b, what is known of them
 * without sums as probabilities p, and rows A in units of the noise, it is
 *
 *   p + V A' (I + A V A')^-1 (y - A p)        V = diag(p (1 - p))
 *
 * It is what a semi-honest party with the sums can compute, and so a lower bound of what noise hides.
 */
import { realSum } from "../../base/gradients/quantised-gradients.ts";
import type { SeededRandom } from "../../base/random.ts";
import type { AnswerNoise } from "./capacity.ts";
import { sentNodes } from "./capacity.ts";
import { strideOf, type Transcript } from "./transcript.ts";

/** Answers about one candidate: rows of A, and what was answered. */
export interface NoisyAnswers {
  readonly rows: readonly { readonly members: Uint32Array; readonly values: Float64Array }[];
  readonly answers: Float64Array;
}

/**
 * The answers about a candidate that has one position in all trees, each with noise that is drawn here.
 * @param side 1 of the people on its summed side
 */
export function noisyAnswers(
  { trees }: Transcript,
  position: number,
  side: Uint8Array,
  noise: AnswerNoise,
  random: SeededRandom,
): NoisyAnswers {
  const rows: { members: Uint32Array; values: Float64Array }[] = [];
  const answers: number[] = [];
  for (const tree of trees) {
    const { grids, columns } = tree.gradients;
    const limbs = (strideOf(tree) - 1) / grids.length;
    for (const { summed, suppressed } of sentNodes(tree)) {
      if (suppressed[position] === 1) continue;
      for (const [slot, grid] of grids.entries()) {
        const sigma = noise.sigma * grid.resolution;
        const at = (i: number): number =>
          limbs === 1 ? columns[slot][i] : columns[2 * slot][i] * 2 ** 26 + columns[2 * slot + 1][i];
        const values = Float64Array.from(summed, (i) => realSum(grid, at(i), 1) / sigma);
        rows.push({ members: summed, values });
        answers.push(summed.reduce((sum, person, i) => sum + side[person] * values[i], 0) + random.normal());
      }
    }
  }
  return { rows, answers: Float64Array.from(answers) };
}

/** Per person the guess. @param prior per person the probability of being on the side, given the outcomes of splits */
export function linearGuess(jobs: readonly NoisyAnswers[], prior: Float64Array): Float64Array {
  const rows = jobs.flatMap((job) => job.rows);
  const answers = jobs.flatMap((job) => Array.from(job.answers));
  const rest = Float64Array.from(answers, (answer, i) => {
    const { members, values } = rows[i];
    return members.reduce((left, person, k) => left - prior[person] * values[k], answer);
  });
  const weights = solved(covariance(rows, prior), rest);
  const guess = prior.slice();
  rows.forEach(({ members, values }, i) =>
    members.forEach((person, k) => (guess[person] += varianceOf(prior[person]) * values[k] * weights[i])),
  );
  return guess;
}

/** Bits per person that a guess reveals beyond the prior, as of a Gaussian channel with the same error. */
export function learnedBits(guess: Float64Array, prior: Float64Array, side: Uint8Array): number {
  const errorOf = (values: Float64Array): number => values.reduce((sum, value, i) => sum + (value - side[i]) ** 2, 0);
  const open = prior.reduce((count, share) => count + (varianceOf(share) > 0 ? 1 : 0), 0);
  if (open === 0) return 0;
  return (Math.max(0, -Math.log2(errorOf(guess) / errorOf(prior)) / 2) * open) / prior.length;
}

/** The most that any algorithm learns from answers about one candidate, in bits per person. */
export function channelBits(jobs: readonly NoisyAnswers[], prior: Float64Array): number {
  const rows = jobs.flatMap((job) => job.rows);
  const factor = cholesky(covariance(rows, prior));
  return factor.reduce((sum, row, i) => sum + Math.log2(row[i]), 0) / prior.length;
}

const varianceOf = (share: number): number => share * (1 - share);

/** I + A V A', row by row. */
function covariance(rows: NoisyAnswers["rows"], prior: Float64Array): Float64Array[] {
  const matrix = rows.map(() => new Float64Array(rows.length));
  const dense = new Float64Array(prior.length);
  rows.forEach(({ members, values }, a) => {
    members.forEach((person, i) => (dense[person] = varianceOf(prior[person]) * values[i]));
    for (let b = 0; b <= a; b++) {
      const other = rows[b];
      let sum = 0;
      for (let i = 0; i < other.members.length; i++) sum += dense[other.members[i]] * other.values[i];
      matrix[a][b] = matrix[b][a] = sum + (a === b ? 1 : 0);
    }
    for (const person of members) dense[person] = 0;
  });
  return matrix;
}

/** The lower triangle L with L L' = the matrix, which is positive definite. */
function cholesky(matrix: readonly Float64Array[]): Float64Array[] {
  const factor = matrix.map(() => new Float64Array(matrix.length));
  for (let i = 0; i < matrix.length; i++)
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j];
      for (let k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = i === j ? Math.sqrt(sum) : sum / factor[j][j];
    }
  return factor;
}

function solved(matrix: readonly Float64Array[], values: Float64Array): Float64Array {
  const factor = cholesky(matrix);
  const found = values.slice();
  for (let i = 0; i < found.length; i++) {
    for (let k = 0; k < i; k++) found[i] -= factor[i][k] * found[k];
    found[i] /= factor[i][i];
  }
  for (let i = found.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < found.length; k++) found[i] -= factor[k][i] * found[k];
    found[i] /= factor[i][i];
  }
  return found;
}
