/** What a passive party learns of the active one. */
import { formatCount } from "../base/text/format.ts";
import { scored } from "./active-disclosures.ts";
import {
  levelsToldMax,
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
          ...(membersSent(facts) === 0 ? ["every person's at every node that is asked for"] : []),
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
        note: "the shape of trees, without people: what is offered depends on it",
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
          "whoever split above has features in these groups; it is not asked where none of its own are open",
        ].join("; "),
      }),
  },
  directions: {
    learner: "passive",
    what: "which instances go left and right at every split whose children are split further",
    extent: (facts) =>
      present([facts.trees, levelsToldMax(facts), membersSent(facts)], {
        atMost: product(facts.trees, levelsToldMax(facts), facts.instances),
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
            note: `and that the first ${localRounds} rounds are the active party's alone; nothing else is told of them`,
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
      const { tellsContributions, passiveParty } = facts;
      const isOff = tellsContributions === false || passiveParty.takesContributions === false;
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

/** 0: nobody is told who is in a node, or in a tree's sample. */
function membersSent({ memberships }: DisclosureFacts): number {
  return memberships.filter(({ membersAreSent }) => membersAreSent).length;
}

function membersHidden(facts: DisclosureFacts): number {
  return facts.memberships.length - membersSent(facts);
}

/** Of a category with one person the side is that person's label, or near to it. */
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
      note: "only if the active party samples; it does not tell how, and with goss this is a hint about labels",
    };
  switch (sampling.method) {
    case "none":
      return validationRows === 0
        ? null
        : { atMost: count, unit: "bits", note: "the same people in every round: all but the validation rows" };
    case "uniform":
      return { atMost: count, unit: "bits", note: "drawn evenly, which says nothing about labels" };
    case "goss":
      return {
        atMost: count,
        unit: "bits",
        note:
          `goss: ${percent(sampling.topFraction)} of the people are drawn because the model gets them wrong, ` +
          `beside ${percent(sampling.otherFraction)} by chance; a hint about labels`,
      };
    case "folds":
      return { atMost: count, unit: "bits", note: `who is in which of ${sampling.folds} folds, drawn by the seed` };
  }
}

function percent(fraction: number): string {
  return `${Number((100 * fraction).toPrecision(4))} %`;
}
