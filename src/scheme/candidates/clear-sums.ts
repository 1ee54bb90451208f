/** Candidate sums without encryption, for replays and for schemes without a cipher: the plaintexts of the answers. */
import { highLimb } from "../../base/gradients/quantised-gradients.ts";
import type { SentTask } from "./node-task.ts";

/**
 * @param gradients by position in the tree's sample, all columns of each instance
 * @returns candidate by candidate all columns, noise included; suppressed candidates are zero
 */
export function clearSums(task: SentTask, gradients: ArrayLike<number>, columns: number): Float64Array {
  const { plan, suppressed, noise } = task;
  const binSums = sumsOfBins(task, gradients, columns);
  const sums = new Float64Array(plan.candidates.length * columns);
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
    const running = new Float64Array(columns);
    for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
      for (let c = 0; c < columns; c++) running[c] += binSums[plan.sources[step] * columns + c];
      if (plan.targets[step] >= 0) sums.set(running, plan.targets[step] * columns);
    }
  }
  suppressed.forEach((isSuppressed, candidate) => {
    if (isSuppressed === 1) sums.fill(0, candidate * columns, (candidate + 1) * columns);
  });
  if (noise !== null && noise.length > 0) addNoise(sums, columns, noise);
  return sums;
}

function sumsOfBins({ plan, positions, bins }: SentTask, gradients: ArrayLike<number>, columns: number): Float64Array {
  const sums = new Float64Array(plan.binCounts.reduce((a, b) => a + b, 0) * columns);
  let firstBin = 0;
  bins.forEach((column, feature) => {
    for (const position of positions) {
      const bin = firstBin + column[position];
      for (let c = 0; c < columns; c++) sums[bin * columns + c] += gradients[position * columns + c];
    }
    firstBin += plan.binCounts[feature];
  });
  return sums;
}

/** Adds noise to rows of one or two columns per slot. */
function addNoise(sums: Float64Array, columns: number, noise: Float64Array): void {
  const limbs = columns / (noise.length / (sums.length / columns));
  noise.forEach((value, i) => {
    const high = limbs === 1 ? value : Math.floor(value / highLimb);
    sums[i * limbs] += high;
    if (limbs === 2) sums[i * limbs + 1] += value - high * highLimb;
  });
}
