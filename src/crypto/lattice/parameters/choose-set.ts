/**
 * Chooses the parameter set and the resolution of a job. Four times the answers, or twice the rows, cost about one bit.
 * The active party proposes what its job reaches, and a passive party checks it with the same functions.
 */
import { TandemError } from "../../../base/error.ts";
import { type AnswerBudget, checkBudget, groupCountMax, isHidden } from "./distance.ts";
import {
  checkResolution,
  type JobBounds,
  jobBounds,
  resolutionBitsMax,
  resolutionBitsMin,
  sumsFit,
} from "./job-bounds.ts";
import { type LatticeSet, latticeSets } from "./sets.ts";

/** If set A reaches this, it is preferred even if B reaches more: its hints are a quarter of B's. */
export const enoughBits = 20;

export interface JobRows {
  readonly rowCount: number;
  readonly noiseMax?: number;
}

/** The largest r that keeps delta within 2^-40, or undefined if no r does. */
export function largestResolution(set: LatticeSet, rows: JobRows, budget: AnswerBudget): number | undefined {
  checkBudget(set, budget);
  for (let resolutionBits = resolutionBitsMax; resolutionBits >= resolutionBitsMin; resolutionBits--) {
    const bounds = boundsIfAny(set, { ...rows, resolutionBits });
    if (bounds !== undefined && isHidden(bounds, budget)) return resolutionBits;
  }
  return undefined;
}

function boundsIfAny(set: LatticeSet, size: JobRows & { readonly resolutionBits: number }): JobBounds | undefined {
  if (!sumsFit(size)) return undefined;
  try {
    return jobBounds(set, size);
  } catch (error) {
    if (error instanceof TandemError && error.code === "LAYOUT_OVERFLOW") return undefined;
    throw error;
  }
}

/**
 * Set A if it reaches the wanted bits, or 20 of them; otherwise B, with as many bits as it reaches.
 * @throws TandemError LAYOUT_OVERFLOW if neither reaches 4 bits
 */
export function chooseSet(wantedBits: number, rows: JobRows, budget: AnswerBudget): JobBounds {
  checkResolution(wantedBits);
  // Set A holds half as many outputs as B.
  const fitsA = latticeSets.A.groups * budget.outputs <= groupCountMax;
  const inA = fitsA ? largestResolution(latticeSets.A, rows, budget) : undefined;
  if (inA !== undefined && inA >= Math.min(wantedBits, enoughBits)) {
    return jobBounds(latticeSets.A, { ...rows, resolutionBits: Math.min(wantedBits, inA) });
  }
  const inB = largestResolution(latticeSets.B, rows, budget);
  if (inB !== undefined) return jobBounds(latticeSets.B, { ...rows, resolutionBits: Math.min(wantedBits, inB) });
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `the lattice scheme cannot hide ${budget.nodesMax} nodes of ${rows.rowCount} rows and ` +
      `${budget.candidateCount} candidates. Use fewer trees or bins, or the paillier scheme`,
  );
}
