/** Scores without the outcomes of splits: scheme/masked. */
import type { SwitchDefence } from "./defence.ts";

export const maskedScoring = {
  parameter: {
    kind: "switch",
    default: false,
    defaultOf: { guarded: true, strict: true },
    help: "score without sending the outcome of any split",
  },
  phrase: () => "masked scoring",
  lowers: "what scoring reveals",
  audit: "scoring",
} as const satisfies SwitchDefence;
