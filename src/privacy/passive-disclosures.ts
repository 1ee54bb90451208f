/** What a passive party learns about the active one. */
import { formatCount } from "../base/text/format.ts";
import { scored } from "./active-disclosures.ts";
import {
  levelsSentMax,
  masksScoring,
  nodesAsked,
  nodesMax,
  present,
  product,
  sampleMax,
  splitsMax,
} from "./disclosure-bounds.ts";
import type { DisclosureEntry, DisclosureFacts, Extent } from "./disclosure-entry.ts";

export const passiveDisclosures = {
  encryptedGradients: {
    learner: "passive",
    what: "encrypted gradients only",
    extent: (facts) =>
      present([facts.rounds], {
        atMost: facts.memberships.every(({ gradientsAreShared }) => gradientsAreShared)
          ? product(facts.rounds, sampleMax(facts), facts.ciphertextsPerInstance)
          : null,
        unit: "ciphertexts",
        note: [
          `under ${facts.key}; the secret stays with ${facts.active}`,
          ...(membersSent(facts) === 0 ? ["of every instance, at every node that is requested"] : []),
        ].join("; "),
      }),
  },
  instances: {
    learner: "passive",
    what: "the number of instances",
    extent: ({ instances }) => ({ atMost: instances, unit: "people" }),
  },
  memberships: {
    learner: "passive",
    what: "which instances are in each node that is split",
    extent: (facts) =>
      present([facts.trees, membersSent(facts)], {
        atMost: product(facts.trees, nodesMax(facts)),
        unit: "nodes",
        note: `in ${formatCount(facts.trees)} trees`,
      }),
  },
  nodesAsked: {
    learner: "passive",
    what: "how many nodes of a tree are requested, where members are hidden",
    extent: (facts) =>
      present([facts.trees, membersHidden(facts)], {
        atMost: product(facts.trees, nodesAsked(facts)),
        unit: "nodes",
        note: "and when; not who is in them, nor how many",
      }),
  },
  nodePlaces: {
    learner: "passive",
    what: "which nodes are parents and siblings, where members are hidden",
    extent: (facts) =>
      present([facts.trees, membersHidden(facts), facts.treeShapeIsSent ? 1 : 0], {
        atMost: product(facts.trees, nodesAsked(facts)),
        unit: "nodes",
        note: "the shape of trees, without their members: which candidates are offered depends on it",
      }),
  },
  openGroups: {
    learner: "passive",
    what:
      "the names of all interaction groups, and at each node that it is asked about which of the interaction groups " +
      "that it has features in are open",
    extent: (facts) =>
      present([facts.trees, facts.groups ?? (facts.groups === null ? 1 : 0)], {
        atMost: product(facts.trees, nodesAsked(facts)),
        unit: "nodes",
        note: [
          ...(facts.groups === null ? ["only in a job with interaction groups"] : []),
          "the owner of a split above has features in these groups; no request is sent where none of its own are open",
        ].join("; "),
      }),
  },
  directions: {
    learner: "passive",
    what: "which instances go left and right at every split whose children are split further",
    extent: (facts) =>
      present([facts.trees, levelsSentMax(facts), membersSent(facts)], {
        atMost: product(facts.trees, levelsSentMax(facts), facts.instances),
        unit: "bits",
        note: "one per person and level but the last; they rank people by risk without a label",
      }),
  },
  sampled: {
    learner: "passive",
    what: "which instances are sampled for each tree",
    extent: (facts) => present([facts.rounds, membersSent(facts)], sampledExtent(facts)),
  },
  classes: {
    learner: "passive",
    what: "with several classes or quantiles their number",
    extent: ({ classes }) =>
      classes === null
        ? { atMost: null, unit: "classes", note: "only with several classes or quantiles" }
        : present([classes], { atMost: classes, unit: "classes" }),
  },
  parameters: {
    learner: "passive",
    what:
      "the job's parameters that are proposed at the handshake: number of trees, depth, leaves, bins, key size, " +
      "codec, seed, fractions of columns, the model that training continues",
    extent: ({ localRounds }) => ({
      atMost: null,
      unit: "parameters",
      ...(localRounds === 0
        ? {}
        : {
            note: `and that the first ${localRounds} rounds are the active party's alone; nothing more about them`,
          }),
    }),
  },
  wins: {
    learner: "passive",
    what: "which of its candidates win, and where some tied",
    extent: (facts) => present([facts.trees], { atMost: product(facts.trees, splitsMax(facts)), unit: "splits" }),
  },
  categoryWeights: {
    learner: "passive",
    what:
      "of a set of categories that wins, that each of them alone would have a lower leaf weight in the node " +
      "than the other categories",
    extent: (facts) =>
      present([facts.trees, facts.passiveParty.groupedFeatures], {
        atMost: null,
        unit: "sets",
        note: ["a hint about labels", ...fewPeople(facts)].join("; "),
      }),
  },
  predictedIds: {
    learner: "passive",
    what: "the ids that are to be predicted",
    extent: ({ predictedRows: count }) => present([count], { atMost: count, unit: "ids" }),
  },
  maskedConditions: {
    learner: "passive",
    what: "which of its own splits are on the path to which, and to other passive parties' splits",
    extent: (facts) => (masksScoring(facts) !== false ? { atMost: null, unit: "splits" } : null),
  },
  scoredIds: {
    learner: "passive",
    what: "the ids that are to be scored, and with which model",
    extent: (facts) => scored(facts, "ids"),
  },
  ownContributions: {
    learner: "passive",
    what: "where both sides agree, what its own features add to the scores of people who are explained, tree by tree",
    extent: (facts) => {
      const { sendsContributions, passiveParty } = facts;
      const isOff = sendsContributions === false || passiveParty.takesContributions === false;
      return isOff || masksScoring(facts) === true || passiveParty.explains === false ? null : scored(facts, "people");
    },
  },
  alignedActiveCount: {
    learner: "passive",
    what: "the number of ids that the active party holds",
    extent: ({ alignment }) => alignment && { atMost: alignment.activeIds, unit: "ids" },
  },
  commonIds: {
    learner: "passive",
    what: "which of its own ids are common to all parties",
    extent: ({ alignment }) => alignment && { atMost: alignment.passiveIds ?? alignment.activeIds, unit: "ids" },
  },
  trainingRows: {
    learner: "passive",
    what: "which of the common instances are trained on",
    extent: ({ instances }) => ({ atMost: instances, unit: "people" }),
  },
  validationRows: {
    learner: "passive",
    what: "which of them are held back for validation",
    extent: ({ validationRows: count }) => present([count], { atMost: count, unit: "people" }),
  },
} as const satisfies Record<string, DisclosureEntry>;

/** Protocols of the job that send passive parties the members of nodes and of a tree's sample. */
function membersSent({ memberships }: DisclosureFacts): number {
  return memberships.filter(({ membersAreSent }) => membersAreSent).length;
}

function membersHidden(facts: DisclosureFacts): number {
  return facts.memberships.length - membersSent(facts);
}

/** The side of a category with one instance is close to that instance's label. */
function fewPeople({ categoryPeopleMin: least, passiveParty: { smallCategories } }: DisclosureFacts): string[] {
  const own = smallCategories ?? [];
  return [
    ...(least === undefined
      ? ["the active party may refuse categories with few people"]
      : [`categories have ${least} people or more on average; of those with fewer it is close to their labels`]),
    ...(own.length === 0 ? [] : [`few people per category: ${own.join(", ")}`]),
  ];
}

function sampledExtent(facts: DisclosureFacts): Extent | null {
  const { sampling, rounds, validationRows } = facts;
  const count = product(rounds, facts.instances);
  if (sampling === null)
    return {
      atMost: count,
      unit: "bits",
      note: "only if the active party samples; the method is not sent, and with goss this is a hint about labels",
    };
  switch (sampling.method) {
    case "none":
      return validationRows === 0
        ? null
        : { atMost: count, unit: "bits", note: "the same people in every round: all but the validation rows" };
    case "uniform":
      return { atMost: count, unit: "bits", note: "drawn uniformly, independent of labels" };
    case "goss":
      return {
        atMost: count,
        unit: "bits",
        note:
          `goss: ${percent(sampling.topFraction)} of the people are drawn because the model gets them wrong, ` +
          `and ${percent(sampling.otherFraction)} at random; a hint about labels`,
      };
    case "folds":
      return { atMost: count, unit: "bits", note: `the members of ${sampling.folds} folds, drawn by the seed` };
  }
}

function percent(fraction: number): string {
  return `${Number((100 * fraction).toPrecision(4))} %`;
}
