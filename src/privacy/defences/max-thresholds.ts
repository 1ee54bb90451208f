/** A feature that has used up its thresholds offers only these again: gbdt/split/used-thresholds.ts. */
import { formatCount } from "../../base/text/format.ts";
import type { AmountDefence } from "./defence.ts";

/** A repeated threshold reveals nothing new about the same instances, except where missing values go. */
const note = (limit: number): string =>
  `at most ${limit === 1 ? "1 threshold" : `${formatCount(limit)} different thresholds`} of each feature in all trees`;

export const maxThresholds = {
  parameter: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 4096,
    help: "thresholds of each passive feature that a job may use in all its trees; 0: no limit",
  },
  stricter: "lower",
  phrase: (limit) => `${limit} threshold${limit === 1 ? "" : "s"} per feature`,
  lowers: "what split outcomes reveal",
  notes: { suppressed: note, splitOutcomes: note, predictionOutcomes: note, scoringOutcomes: note },
} as const satisfies AmountDefence;
