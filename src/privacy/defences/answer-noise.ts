/** Noise in the sums that passive parties return: base/noise, gbdt/split/tree-noise.ts. */
import type { AmountDefence } from "./defence.ts";

export const answerNoise = {
  parameter: {
    kind: "number",
    default: 0,
    defaultOf: { guarded: 5, strict: 20 },
    min: 0,
    max: 1000,
    help: "standard deviation of the noise in sums that passive parties return, in gradients of one person; 0: none",
  },
  stricter: "higher",
  phrase: (deviation) => `noise of deviation ${deviation} in sums`,
  lowers: "what sums reveal",
  replacedBy: "hidden_sums",
} as const satisfies AmountDefence;
