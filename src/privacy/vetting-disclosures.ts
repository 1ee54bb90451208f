/** What a vetting reveals besides sums, and what of a training job it does not. */
import type { DisclosureEntry, DisclosureFacts, Extent } from "./disclosure-entry.ts";

/** Of one job, known or allowed by a policy. */
export interface VettingFacts {
  /** The passive party sends names; null: not known. */
  readonly isNamed: boolean | null;
  /** The job is a vetting. False: a policy allows vettings beside other jobs. */
  readonly isJob: boolean;
}

export const vettingDisclosures = {
  vettedColumns: {
    learner: "active",
    what:
      "in a vetting, which candidates belong to one column, in the order of its bins, and whether it has categories " +
      "or missing values",
    extent: (facts) => vetted(facts, "columns"),
  },
  vettedNames: {
    learner: "active",
    what: "in a vetting, where the party's policy allows it, the names of its columns",
    extent: (facts) => (facts.vetting?.isNamed === false ? null : vetted(facts, "names")),
  },
  vettedStabilities: {
    learner: "active",
    what:
      "in a vetting, how far the distribution of a column among the common people is from that among the party's " +
      "other people",
    extent: (facts) => (facts.defences.answer_noise > 0 ? null : vetted(facts, "stability indices")),
  },
} as const satisfies Record<string, DisclosureEntry>;

/** Of all disclosures of a job those that a vetting has: there are no splits, no predictions and no model. */
const ofVetting: ReadonlySet<string> = new Set([
  ...Object.keys(vettingDisclosures),
  "candidateSums",
  "candidates",
  "suppressed",
  "candidateLinks",
  "alignedPartyIds",
  "alignedActiveIds",
  "encryptedGradients",
  "instances",
  "nodesAsked",
  "parameters",
  "alignedActiveCount",
  "commonIds",
]);

export function hasDisclosure({ vetting }: DisclosureFacts, name: string): boolean {
  return vetting?.isJob !== true || ofVetting.has(name);
}

function vetted({ vetting, passiveParty }: DisclosureFacts, unit: string): Extent | null {
  if (vetting === undefined) return null;
  return { atMost: passiveParty.features, unit, note: "one for each column" };
}
