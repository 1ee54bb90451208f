/** A budget for what won splits reveal of a party's columns: gbdt/split/bit-places.ts. */
import type { AmountDefence } from "./defence.ts";

const note = (bits: number): string =>
  `at most ${bits} ${bits === 1 ? "bit" : "bits"} of a feature on average, over all trees`;

export const outcomeBits = {
  parameter: {
    kind: "number",
    default: 0,
    defaultOf: { guarded: 2, strict: 1 },
    min: 0,
    max: 16,
    help: "bits that won splits may reveal of a passive party's feature, on average over its features; 0: no limit",
  },
  stricter: "lower",
  phrase: (bits) => `at most ${bits} ${bits === 1 ? "bit" : "bits"} per feature in outcomes`,
  lowers: "what split outcomes reveal",
  notes: { suppressed: note, splitOutcomes: note, predictionOutcomes: note, scoringOutcomes: note },
} as const satisfies AmountDefence;
