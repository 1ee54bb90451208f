/** The outputs asked of a model per instance: those of XGBoost's predict. */
import { TandemError } from "../base/error.ts";
import { allIterations, type IterationRange } from "../gbdt/tree/iterations.ts";

/**
 * `contributions` are SHAP values: of own features, and a total per passive party. In `party_contributions` a passive
 * party counts as one feature, which needs no more of it than a prediction. `own_contributions` are computed from the
 * score and own columns alone: all other parties count as one, after the own features.
 */
export const outputKinds = [
  "prediction",
  "margin",
  "leaf",
  "contributions",
  "party_contributions",
  "own_contributions",
] as const;

export type OutputKind = (typeof outputKinds)[number];

export interface Wanted {
  readonly kind: OutputKind;
  /** Only these rounds' trees count. */
  readonly iterations: IterationRange;
}

export const predictionWanted: Wanted = { kind: "prediction", iterations: allIterations };

/** Requests with the same key may share a batch. */
export function wantedKey({ kind, iterations: { begin, end } }: Wanted): string {
  return `${kind} ${begin}:${end}`;
}

/**
 * A score without outcomes is a sum over all trees at once. Sums over some of them would reveal outcomes.
 * @throws TandemError USAGE
 */
export function checkMasked({ kind, iterations: { begin, end } }: Wanted): void {
  const needsOutcomes = kind === "leaf" || kind === "contributions" || kind === "party_contributions";
  const what = needsOutcomes ? wordsOf(kind) : begin > 0 || end > 0 ? "some of the rounds" : null;
  if (what === null) return;
  const instead =
    kind === "leaf" || !needsOutcomes
      ? ""
      : ". Ask for own_contributions (--own-contributions): own features one by one, and all other parties together";
  throw new TandemError(
    "USAGE",
    `${what}: the model was trained with masked_scoring, ` +
      `which gives the whole score of an instance and no outcome of a split${instead}`,
  );
}

/** A prediction from all rounds. */
export function isWholeScore({ kind, iterations: { begin, end } }: Wanted): boolean {
  return kind === "prediction" && begin === 0 && end === 0;
}

export function isExplanation({ kind }: Wanted): boolean {
  return kind === "contributions" || kind === "party_contributions" || kind === "own_contributions";
}

function wordsOf(kind: OutputKind): string {
  return kind === "leaf" ? "leaves" : "contributions";
}
