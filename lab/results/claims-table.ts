/** The claims of a reproduction, and what it ran on, as tables and lines that every page shows. */
import { type Claim, verdict } from "../reproduce/claims.ts";
import { plainColumns, type ResultTable } from "../reproduce/outcome.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";
import { timesNote } from "../reproduce/sweep.ts";

export function claimsTable(claims: readonly Claim[]): ResultTable {
  return {
    name: "claims",
    title: "Claims",
    columns: plainColumns("claim", "meaning", "criterion", "observed", "verdict"),
    rows: claims.map((claim) => [claim.name, claim.claim, claim.bar, claim.seen, verdict(claim)]),
    notes: [],
    words: true,
  };
}

/** What was run on which machine, one fact per line. */
export function circumstances({
  machine,
  commit,
  trialCommits,
  seed,
  finishedAt,
  scale,
  data,
  synthetic,
}: Reproduction): string[] {
  const others = trialCommits.filter((other) => other !== commit);
  const measuredAt = others.length === 0 ? "" : `; measured at ${others.join(", ")}, with the same program`;
  return [
    `Machine: ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, kernel ${machine.kernel}. ` +
      "Both parties ran on it as separate processes over TLS.",
    `Program: commit ${commit}${measuredAt}. Seed ${seed}. Finished ${finishedAt.slice(0, 10)}.`,
    ...data.map(
      ({ title, source, digest }) => `Data: ${title}, ${source} (SHA-256 of the cells used: ${digest.slice(0, 16)}).`,
    ),
    ...(synthetic ? ["The data are synthetic: the paper's numbers are shown for the format only."] : []),
    ...(scale === "full"
      ? []
      : [
          `A ${scale} reproduction, with fewer rows and trees than the paper's. ` +
            "It exercises every step, but is no comparison with the paper.",
        ]),
    "Unless an experiment varies it: depth 3, eta 0.3, lambda 1, gamma 0, 32 bins, privacy exact. " +
      "SecureBoost is the unbatched codec on a grid of 2^-40. " +
      "Proposed is the paper's slots with s = -10 and alpha = 20.",
    timesNote,
  ];
}
