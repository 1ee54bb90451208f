/**
 * The statistical distance delta between a job's answers and ones that reveal only the sums.
 *
 *   delta <= 1/2 sqrt(0.779 S2) / W,     S2 = answers x 8 (n_c + 4N/3)
 *
 * 0.779 / W^2 is the Fisher information of the smudging noise; 8 (n_c + 4N/3) is the mean square of V_c, the error that
 * it hides. Squared and multiplied by 12,000 both sides are integers, so the comparison with 2^-40 is exact.
 */
import { TandemError } from "../../../base/error.ts";
import { bitLength } from "../../integers.ts";
import type { JobBounds } from "./job-bounds.ts";
import type { LatticeSet } from "./sets.ts";

/** A party's hints take two gigabytes at the active party at most, in either set (activeMemoryBytes in sizes.ts). */
export const candidateCountMax = 65_536;
export const hintCountMax = ({ name }: LatticeSet): number =>
  name === "A" ? candidateCountMax : candidateCountMax / 4;
/** The group number of a node has one byte in the streams: one that wrapped would use a secret twice. */
export const groupCountMax = 256;
/** delta is at most 2 to the power of this. */
export const distanceLimitLog2 = -40;

/** The maximum that a passive party answers over a whole job. */
export interface AnswerBudget {
  /** Answered nodes of the job; every class's tree counts. */
  readonly nodesMax: number;
  /** Pairs of g and h per node. */
  readonly outputs: number;
  readonly candidateCount: number;
  /** Maximum number of rows on the summed side of a candidate; default: all rows, which is public. */
  readonly sideRowsMax?: number;
}

/** Limits the candidates of a party to those that it may send hints of. */
export function withHints(set: LatticeSet, budget: AnswerBudget): AnswerBudget {
  return { ...budget, candidateCount: Math.min(budget.candidateCount, hintCountMax(set)) };
}

/** @throws TandemError USAGE for an impossible budget */
export function checkBudget(set: LatticeSet, { nodesMax, outputs, candidateCount }: AnswerBudget): void {
  const { name } = set;
  if (!isCount(nodesMax) || !isCount(outputs) || !isCount(candidateCount)) {
    throw new TandemError("USAGE", "nodes, outputs and candidates of a job are whole numbers, 1 or more");
  }
  if (candidateCount > hintCountMax(set)) {
    const inA = name === "A" ? "" : ", a lower --resolution-bits for set A";
    throw new TandemError(
      "USAGE",
      `the lattice scheme takes at most ${hintCountMax(set)} candidates per party in set ${name}; got ` +
        `${candidateCount}. Use a lower --max-bin${inA}, or the curve scheme`,
    );
  }
  if (set.groups * outputs > groupCountMax) {
    throw new TandemError(
      "USAGE",
      `a node of the lattice scheme holds at most ${groupCountMax / set.groups} outputs in set ${set.name}; ` +
        `got ${outputs}. Use one tree per class`,
    );
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;

/** delta squared, as a fraction of integers. */
function squaredDistance(bounds: JobBounds, budget: AnswerBudget): { numerator: bigint; denominator: bigint } {
  const { set, rowCount, smudgingWidth } = bounds;
  checkBudget(set, budget);
  const words = [budget.nodesMax, budget.outputs, set.groups, budget.candidateCount];
  const answers = words.reduce((product, factor) => product * BigInt(factor), 1n);
  const sideRows = BigInt(budget.sideRowsMax ?? rowCount);
  return {
    numerator: 779n * answers * 8n * (3n * sideRows + 4n * BigInt(set.degree)),
    denominator: 12_000n * smudgingWidth ** 2n,
  };
}

/** Whether delta is at most 2^-40. */
export function isHidden(bounds: JobBounds, budget: AnswerBudget): boolean {
  const { numerator, denominator } = squaredDistance(bounds, budget);
  return numerator << BigInt(-2 * distanceLimitLog2) <= denominator;
}

/** log2 of delta, rounded up to hundredths. */
export function distanceLog2(bounds: JobBounds, budget: AnswerBudget): number {
  const { numerator, denominator } = squaredDistance(bounds, budget);
  const log2 = (log2Of(numerator) - log2Of(denominator)) / 2;
  // The two logarithms are off by less than 2^-40.
  return Math.ceil((log2 + 2 ** -40) * 100) / 100;
}

function log2Of(value: bigint): number {
  const dropped = Math.max(0, bitLength(value) - 53);
  return Math.log2(Number(value >> BigInt(dropped))) + dropped;
}
