/** The memory limit of dart, which stores the leaf of every instance in every tree. */
import { TandemError } from "../../../base/error.ts";
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import { narrowBytes } from "../../tree/narrow-leaves.ts";

/** A job's checkpoint is read as one text, and leaves are most of it. */
const leafBytesMax = 1 << 28;

/** @param trees of the whole model. @throws TandemError USAGE if it is too much */
export function checkDartSize(parameters: TrainingParameters, instanceCount: number, trees: number): void {
  if (parameters.booster !== "dart") return;
  const bytes = instanceCount * trees * narrowBytes(nodesMax(parameters));
  if (bytes <= leafBytesMax) return;
  throw new TandemError(
    "USAGE",
    `booster dart stores the leaf of every row in every tree: ${instanceCount} rows in ${trees} trees would take ` +
      `${Math.ceil(bytes / (1 << 20))} MB, and ${leafBytesMax >> 20} MB is the maximum. Use fewer rounds, or gbtree`,
  );
}

function nodesMax({ max_leaves: leaves, max_depth: depth }: TrainingParameters): number {
  return Math.min(leaves === 0 ? Infinity : 2 * leaves, depth === 0 ? Infinity : 2 ** (depth + 1)) - 1;
}
