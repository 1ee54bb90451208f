/** What is asked of a model about each person: the outputs of XGBoost's predict. */
import { TandemError } from "../base/error.ts";
import { allIterations, type IterationRange } from "../gbdt/tree/iterations.ts";

export const outputKinds = ["prediction", "margin", "leaf"] as const;

export type OutputKind = (typeof outputKinds)[number];

export interface Wanted {
  readonly kind: OutputKind;
  /** Only these rounds' trees count. */
  readonly iterations: IterationRange;
}

export const predictionWanted: Wanted = { kind: "prediction", iterations: allIterations };

/** What is the same for requests that may travel, and be computed, together. */
export function wantedKey({ kind, iterations: { begin, end } }: Wanted): string {
  return `${kind} ${begin}:${end}`;
}

/**
 * A score without outcomes is a sum over all trees at once. Sums over some of them would tell what is hidden.
 * @throws TandemError USAGE
 */
export function checkMasked({ kind, iterations: { begin, end } }: Wanted): void {
  const what = kind === "leaf" ? "leaves" : begin > 0 || end > 0 ? "some of the rounds" : null;
  if (what !== null)
    throw new TandemError(
      "USAGE",
      `${what}: the model was trained with masked_scoring, which tells a person's whole score and no outcome of a split`,
    );
}
