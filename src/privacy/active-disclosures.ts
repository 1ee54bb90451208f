/** What the active party learns about a passive one. */
import { formatCount } from "../base/text/format.ts";
import { areOff } from "../gbdt/split/offered-candidates.ts";
import { minimumsWithNoise } from "../gbdt/split/tree-noise.ts";
import {
  candidateNote,
  candidatesMax,
  coverAll,
  defenceNotes,
  masksScoring,
  nodesMax,
  present,
  product,
  sidesMax,
  someFeatures,
  splitsMax,
} from "./disclosure-bounds.ts";
import type { DisclosureEntry, DisclosureFacts, Extent } from "./disclosure-entry.ts";

/** Revealed by later use of the model, not by the job itself. */
const afterwards = "not in the job: with the model that it makes";

export const activeDisclosures = {
  candidateSums: {
    learner: "active",
    what:
      "per candidate of a passive party, without its name: the sums of g and h of one side, " +
      "and its count where counts are sent",
    extent: (facts) =>
      present([facts.trees, facts.defences.hidden_sums ? 0 : 1], {
        atMost: product(facts.trees, nodesMax(facts), candidatesMax(facts)),
        unit: "sums of unnamed candidates",
        note: `${candidateNote(facts)}; ${whatSumsReveal(facts)}`,
      }),
  },
  bestCandidates: {
    learner: "active",
    what: "of each node the sums of g and h of one side of its best candidate, where sums are hidden",
    extent: (facts) =>
      present([facts.trees, facts.defences.hidden_sums ? 1 : 0], {
        atMost: product(facts.trees, nodesMax(facts)),
        unit: "unnamed candidates",
        note: "only where it beats the active party's own best candidate",
      }),
  },
  candidates: {
    learner: "active",
    what: "number of features and of split candidates",
    extent: (facts) => ({
      atMost: facts.passiveParty.features,
      unit: "features",
      note:
        candidateNote(facts) +
        (facts.columnsAreSampled === true ? "; columns are sampled, by their owner in secret" : ""),
    }),
  },
  suppressed: {
    learner: "active",
    what:
      "which candidates are suppressed at a pair of nodes, and so that one of their sides, or one of the nodes, is " +
      "small, that a neighbour is near, that their feature has used its thresholds, or is in no open group",
    extent: (facts) => {
      if (facts.defences.hidden_sums) return null;
      const reasons = [...smallGroups(facts), ...closedGroups(facts)];
      if (reasons.length > 0) return { atMost: null, unit: "candidates", note: reasons.join("; ") };
      return defenceNotes("suppressed", facts).length === 0 ? null : { atMost: null, unit: "candidates" };
    },
  },
  candidateOrders: {
    learner: "active",
    what:
      "where candidates tie for the best, the order of the node's candidates in their owner's table, " +
      "without names",
    extent: (facts) =>
      present([facts.trees, facts.defences.answer_noise > 0 || facts.defences.hidden_sums ? 0 : 1], {
        atMost: product(facts.trees, splitsMax(facts), candidatesMax(facts)),
        unit: "ranks of unnamed candidates",
        note: "once per node that is split; most of it can be computed from the sums of all trees",
      }),
  },
  candidateLinks: {
    learner: "active",
    what: "which candidate is which over all trees, where members are hidden",
    extent: (facts) =>
      present([facts.trees, linked(facts)], {
        atMost: candidatesMax(facts),
        unit: "unnamed candidates",
        note: either(facts, "each has one position in all trees; without hidden members counts reveal most of this"),
      }),
  },
  drawnTogether: {
    learner: "active",
    what:
      "where columns are sampled and members are hidden, which candidates are drawn together, " +
      "and so which belong to one feature",
    extent: (facts) =>
      present([facts.trees, linked(facts), facts.columnsAreSampled === false ? 0 : 1], {
        atMost: product(facts.trees, nodesMax(facts), candidatesMax(facts)),
        unit: "unnamed candidates",
        note: either(facts, "tree after tree"),
      }),
  },
  splitOutcomes: {
    learner: "active",
    what:
      "for each split that a passive party wins, the side of each instance of the node, or of every instance of the " +
      "job where members are hidden",
    extent: (facts) =>
      present([facts.trees], {
        atMost: product(facts.trees, sidesMax(facts), facts.instances),
        unit: "bits",
        note:
          `one per person and ${coverAll(facts) ? "split, in the node or not" : "level"}, ` +
          `if the party won every split of ${formatCount(facts.trees)} trees`,
      }),
  },
  categoryGroups: {
    learner: "active",
    what:
      "where sets of categories are split, which candidates belong to one feature: how many categories it has, how " +
      "many people of a node are in each, and which one is for missing values; with bin_cuts xgboost the " +
      "alphabetical order of their names",
    extent: ({ passiveParty: { groupedFeatures: count } }) =>
      someFeatures(count, "only with enable_categorical, of features with max_cat_to_onehot categories or more"),
  },
  monotone: {
    learner: "active",
    what: "of features with monotone constraints, which candidates they are, and the sign where one splits",
    extent: ({ passiveParty: { constrainedFeatures: count } }) =>
      someFeatures(count, "only if the party names constraints"),
  },
  splitGroups: {
    learner: "active",
    what:
      "with interaction groups, which of them it has features in, and for each split that it wins " +
      "which of those that are open its feature is in",
    extent: (facts) =>
      present([facts.trees, facts.groups ?? (facts.groups === null ? 1 : 0)], {
        atMost: product(facts.trees, splitsMax(facts)),
        unit: "splits",
        ...(facts.groups === null ? { note: "only in a job with interaction groups" } : {}),
      }),
  },
  predictionOutcomes: {
    learner: "active",
    what: "at the end of the job, for the test rows: the outcome of each of the party's splits, also off the path",
    extent: (facts) =>
      present([facts.trees, facts.predictedRows, masksScoring(facts) ? 0 : 1], {
        atMost: product(facts.trees, splitsMax(facts), facts.predictedRows),
        unit: "outcomes",
        note: "if the party won every split",
      }),
  },
  startOutcomes: {
    learner: "active",
    what:
      "where training continues an earlier model, the outcome of each of its splits of that model " +
      "for each instance of the job",
    extent: (facts) =>
      facts.hasStart && !masksScoring(facts)
        ? { atMost: null, unit: "outcomes", note: "one per person and split of the party in the earlier model" }
        : null,
  },
  alignedPartyIds: {
    learner: "active",
    what: "the number of ids that the party holds",
    extent: ({ alignment }) => alignment && { atMost: alignment.passiveIds, unit: "ids" },
  },
  alignedActiveIds: {
    learner: "active",
    what: "which of the active party's ids the party holds too",
    extent: ({ alignment }) =>
      alignment && {
        atMost: alignment.activeIds,
        unit: "bits",
        note: "one per id that is brought, whether it is common to all parties or not",
      },
  },
  scoringOutcomes: {
    learner: "active",
    what: "later, for every person scored: the outcome of each of the party's splits, also off the path",
    extent: (facts) => (masksScoring(facts) ? null : scored(facts, "outcomes")),
  },
  maskedScores: {
    learner: "active",
    what: "where scoring is masked, the score of every person asked about, and no outcome of a split",
    extent: (facts) =>
      masksScoring(facts) !== false
        ? {
            atMost: null,
            unit: "scores",
            note: `${facts.predictedRows ?? "some"} test rows, and all people scored later`,
          }
        : null,
  },
  scoringHolds: {
    learner: "active",
    what: "which of the ids asked for the party holds",
    extent: (facts) => scored(facts, "ids"),
  },
  scoringDefaults: {
    learner: "active",
    what: "where unknown ids are scored as missing, the default direction of each of its splits",
    extent: (facts) => (masksScoring(facts) ? null : scored(facts, "splits")),
  },
  featureTags: {
    learner: "active",
    what: "where the party allows explanations, which of its splits of one tree share a feature",
    extent: (facts) => {
      const isOff = masksScoring(facts) === true || facts.passiveParty.explains === false;
      const extent = isOff ? null : scored(facts, "splits");
      return extent && { ...extent, note: `${extent.note}; once per model, without names, and nothing across trees` };
    },
  },
  consent: {
    learner: "active",
    what:
      "where the party consents to an export, its splits of that model: " +
      "names of features, thresholds or categories, and default directions",
    extent: () => ({
      atMost: null,
      unit: "splits",
      note: `${afterwards}, and only by a file that its owner signs and sends`,
    }),
  },
} as const satisfies Record<string, DisclosureEntry>;

/** Protocols of the job under which candidates are linked over trees. */
function linked({ memberships }: DisclosureFacts): number {
  return memberships.filter(({ candidatesAreLinked }) => candidatesAreLinked).length;
}

/** The note, with a condition where the job's scheme may or may not hide members. */
function either(facts: DisclosureFacts, note: string): string {
  return linked(facts) < facts.memberships.length ? `if the job's scheme hides members; ${note}` : note;
}

/** Why candidates may be suppressed. Where members are hidden, minimums count all summed instances, not a node's. */
function smallGroups(facts: DisclosureFacts): readonly string[] {
  const { defences, peopleMin: agreed = 1, passiveParty, memberships } = facts;
  const isNoisy = defences.answer_noise > 0;
  const peopleMin = Math.max(agreed, isNoisy ? 2 : 1);
  if (passiveParty.minimums === null)
    return peopleMin > 1
      ? [`fewer than ${peopleMin} people on a side or between neighbours, or what the party's own policy asks for`]
      : ["only if the party's policy sets minimums, which are not sent beforehand"];
  const minimums = minimumsWithNoise(passiveParty.minimums, isNoisy);
  const { perNode, perCandidate, between = 1 } = minimums;
  if (areOff(minimums)) return [];
  const neighbours = between > 1 ? `, ${between} between neighbours` : "";
  if (memberships.some(({ membersAreSent }) => membersAreSent))
    return [`fewer than ${perCandidate} people on a side${neighbours}, or ${perNode} in a node`];
  return [
    `fewer than ${perCandidate} people on a side${neighbours}, among all summed instances, whichever node they are in`,
    ...(perNode > 1 ? [`the active party is asked to request no node of fewer than ${perNode}`] : []),
  ];
}

/** Candidates that are suppressed below a split show which candidates are in one group. */
function closedGroups({ groups = 0 }: DisclosureFacts): readonly string[] {
  if (groups === 0) return [];
  const when = groups === null ? "in a job with interaction groups " : "";
  return [`${when}candidates of closed groups below a split, which shows which candidates share a group`];
}

function whatSumsReveal({ defences: { answer_noise: answerNoise }, memberships }: DisclosureFacts): string {
  const countsAreSent = memberships.some((facts) => facts.countsAreSent);
  if (answerNoise > 0) {
    // Where members are hidden, noise is keyed by the node's number and the attempt at its round.
    const again = countsAreSent ? "" : "; a repeated round draws new noise";
    return `with noise of deviation ${answerNoise}, in gradients of one person, and without counts${again}`;
  }
  return `assume that they reveal which bin people are in${countsAreSent ? "" : ", though counts are not sent"}`;
}

export function scored({ passiveParty: { scoringIdsMax: most } }: DisclosureFacts, unit: string): Extent | null {
  if (most === "refused") return null;
  const bound = most === null ? "as far as the party's policy allows" : `up to ${formatCount(most)} ids per request`;
  return { atMost: null, unit, note: `${afterwards}, ${bound}` };
}
