/** Sums in shares, of which the active party learns the best candidate's only: protocol/hidden-sums.ts. */
import type { SwitchDefence } from "./defence.ts";

export const hiddenSums = {
  parameter: {
    kind: "switch",
    default: false,
    help: "keep a passive party's sums in shares: of each node the active party learns one candidate's, its best",
  },
  phrase: () => "hidden sums",
  lowers: "what sums reveal",
  needsMasks: true,
  refusal: (scheme) => `sums of the scheme ${scheme} cannot be masked. Use paillier, or answer_noise`,
  // An audit measures sums that are sent.
  audit: "none",
} as const satisfies SwitchDefence;
