/** Candidates with few instances on a side, or between neighbours, are not offered: gbdt/split/job-minimums.ts. */
import { formatPercent } from "../../base/text/format.ts";
import type { AmountDefence } from "./defence.ts";

export const minPeopleShare = {
  parameter: {
    kind: "number",
    default: 0,
    defaultOf: { guarded: 0.01, strict: 0.02 },
    min: 0,
    max: 0.5,
    help: "share of the people that a passive party's candidate needs on each side, and between neighbours; 0: none",
  },
  stricter: "higher",
  phrase: (share) => `at least ${formatPercent(share)} of the people on each side of a candidate`,
  lowers: "what sums reveal",
  format: formatPercent,
  countsMembers: true,
  audit: { with: "answer_noise" },
} as const satisfies AmountDefence;
