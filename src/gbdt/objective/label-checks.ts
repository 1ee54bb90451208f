/** Checks of labels that several families share. Messages name the first instance, never its value. */
import { TandemError } from "../../base/error.ts";

/** @throws TandemError LABEL_INVALID */
export function requireFinite(labels: Float64Array): void {
  requireLabels(labels, Number.isFinite, "is not a finite number");
}

/**
 * @param trouble what is said of a label that is not allowed
 * @throws TandemError LABEL_INVALID
 */
export function requireLabels(labels: Float64Array, isAllowed: (label: number) => boolean, trouble: string): void {
  const bad = labels.findIndex((label) => !isAllowed(label));
  if (bad >= 0) throw new TandemError("LABEL_INVALID", `the label of instance ${bad} ${trouble}`);
  if (labels.length === 0) throw new TandemError("LABEL_INVALID", "there are no labels");
}
