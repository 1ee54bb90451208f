/**
 * What a job will reveal to whom, said before it starts: one table of all disclosures, in the words of docs/leakage.md,
 * each with the question whether this job has it and how much of it there can be. A test holds the table to the
 * `@reveals` tags of the code, to the ledger and to the page; the ledger counts afterwards what this table bounds
 * before.
 */
import { formatCount } from "../base/format.ts";
import { areOff, type Minimums } from "../gbdt/split/offered-candidates.ts";

/** What is known of a job before it starts. Numbers are upper bounds; null: the party that asks cannot know it. */
export interface DisclosureFacts {
  readonly active: string;
  readonly passive: string;
  /** The trees that passive parties take part in, and the rounds that these are. */
  readonly trees: number;
  readonly rounds: number;
  /** Training goes on from a model that the parties have made before. */
  readonly hasStart: boolean;
  /** Rounds of the active party alone, before them. */
  readonly localRounds: number;
  /** 0: no limit but that of leaves. */
  readonly depth: number;
  /** 0: no limit. */
  readonly leaves: number;
  readonly binsMax: number;
  /** What the gradients are encrypted with, in words. */
  readonly key: string;
  readonly instances: number | null;
  readonly ciphertextsPerInstance: number | null;
  readonly sampling: Sampling | null;
  readonly columnsAreSampled: boolean;
  /** 0: one output. */
  readonly classes: number | null;
  readonly validationRows: number | null;
  /** People who are predicted at the end. */
  readonly predictedRows: number | null;
  /** Null: the files list the same people in the same order. */
  readonly alignment: { readonly activeIds: number | null; readonly passiveIds: number | null } | null;
  readonly passiveParty: PassiveFacts;
}

export type Sampling =
  | { readonly method: "none" }
  | { readonly method: "uniform"; readonly share: number }
  | { readonly method: "goss"; readonly topShare: number; readonly otherShare: number }
  | { readonly method: "folds"; readonly folds: number };

/** A passive party's own side; null where only itself knows. */
export interface PassiveFacts {
  readonly features: number | null;
  readonly candidates: number | null;
  readonly constrainedFeatures: number | null;
  /** Features that are split in sets of categories. */
  readonly groupedFeatures: number | null;
  readonly minimums: Minimums | null;
  readonly scoringIdsMax: number | "refused" | null;
}

/** How much of a disclosure a job can have, null where that cannot be known; and what else is to be said of it. */
export interface Extent {
  readonly atMost: number | null;
  readonly unit: string;
  readonly note?: string;
}

export interface DisclosureEntry {
  readonly learner: "active" | "passive";
  /** As docs/leakage.md says it, word for word (a test compares). */
  readonly what: string;
  /** Null: not in this job. */
  readonly extent: (facts: DisclosureFacts) => Extent | null;
}

/** Revealed later, with the finished model: not by the job, but by taking part in it. */
const afterwards = "not in the job: with the model that it makes";

export const disclosureEntries = {
  candidateSums: {
    learner: "active",
    what: "per candidate of a passive party, without its name: the sums of g and h and the count of one side",
    extent: (facts) =>
      present([facts.trees], {
        atMost: product(facts.trees, nodesMax(facts), candidatesMax(facts)),
        unit: "sums of unnamed candidates",
        note: `${candidateNote(facts)}; assume that they tell which bin people are in`,
      }),
  },
  candidates: {
    learner: "active",
    what: "number of features and of split candidates",
    extent: (facts) => ({
      atMost: facts.passiveParty.features,
      unit: "features",
      note: candidateNote(facts) + (facts.columnsAreSampled ? "; columns are sampled, by their owner in secret" : ""),
    }),
  },
  withheld: {
    learner: "active",
    what:
      "which candidates are withheld at a pair of nodes, and so that one of their sides, " +
      "or one of the nodes, is small",
    extent: ({ passiveParty: { minimums } }) => {
      if (minimums === null)
        return {
          atMost: null,
          unit: "candidates",
          note: "only if the party's policy sets minimums, which is not told beforehand",
        };
      return areOff(minimums)
        ? null
        : {
            atMost: null,
            unit: "candidates",
            note: `fewer than ${minimums.perCandidate} people on a side, or ${minimums.perNode} in a node`,
          };
    },
  },
  splitOutcomes: {
    learner: "active",
    what: "for each split that it wins, which side every instance of the node falls on",
    extent: (facts) =>
      present([facts.trees], {
        atMost: product(facts.trees, levelsMax(facts), facts.instances),
        unit: "bits",
        note: `one per person and level, if the party won every split of ${formatCount(facts.trees)} trees`,
      }),
  },
  categoryGroups: {
    learner: "active",
    what:
      "which candidates are the categories of one feature, where sets of categories are split, " +
      "and so its number of categories and how many people of a node are in each " +
      "and which of them is the missing values",
    extent: ({ passiveParty: { groupedFeatures: count } }) =>
      someFeatures(count, "only with enable_categorical, of features with max_cat_to_onehot categories or more"),
  },
  monotone: {
    learner: "active",
    what: "of features with monotone constraints, which candidates they are, and the sign where one splits",
    extent: ({ passiveParty: { constrainedFeatures: count } }) =>
      someFeatures(count, "only if the party names constraints"),
  },
  predictionOutcomes: {
    learner: "active",
    what: "at prediction, the outcome of each of its splits for each id asked for, also off the path",
    extent: (facts) =>
      present([facts.trees, facts.predictedRows], {
        atMost: product(facts.trees, splitsMax(facts), facts.predictedRows),
        unit: "outcomes",
        note: "if the party won every split",
      }),
  },
  startOutcomes: {
    learner: "active",
    what:
      "where training goes on from an earlier model, the outcome of each of its splits of that model " +
      "for each instance of the job",
    extent: ({ hasStart }) =>
      hasStart
        ? { atMost: null, unit: "outcomes", note: "one per split of the party's in the earlier model and person" }
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
    what: "at scoring, the outcome of each of the party's splits for each id asked for, also off the path",
    extent: (facts) => scored(facts, "outcomes"),
  },
  scoringHolds: {
    learner: "active",
    what: "which of the ids asked for the party holds",
    extent: (facts) => scored(facts, "ids"),
  },
  scoringDefaults: {
    learner: "active",
    what: "where unknown ids are scored as missing, the default direction of each of its splits",
    extent: (facts) => scored(facts, "splits"),
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
  encryptedGradients: {
    learner: "passive",
    what: "encrypted gradients only",
    extent: (facts) =>
      present([facts.rounds], {
        atMost: product(facts.rounds, sampleMax(facts), facts.ciphertextsPerInstance),
        unit: "ciphertexts",
        note: `under ${facts.key}, which stays with ${facts.active}`,
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
      present([facts.trees], {
        atMost: product(facts.trees, nodesMax(facts)),
        unit: "nodes",
        note: `in ${formatCount(facts.trees)} trees`,
      }),
  },
  directions: {
    learner: "passive",
    what: "which instances go left and right at every split whose children are split further",
    extent: (facts) =>
      present([facts.trees, levelsToldMax(facts)], {
        atMost: product(facts.trees, levelsToldMax(facts), facts.instances),
        unit: "bits",
        note: "one per person and level but the last; they rank people by risk without a label",
      }),
  },
  sampled: {
    learner: "passive",
    what: "which instances are sampled for each tree",
    extent: (facts) => present([facts.rounds], sampledExtent(facts)),
  },
  classes: {
    learner: "passive",
    what: "with `multi:softprob` the number of classes",
    extent: ({ classes }) =>
      classes === null
        ? { atMost: null, unit: "classes", note: "only with several classes" }
        : present([classes], { atMost: classes, unit: "classes" }),
  },
  parameters: {
    learner: "passive",
    what:
      "the job's parameters that are proposed at the handshake: number of trees, depth, leaves, bins, key size, " +
      "codec, seed, shares of columns, the model that training goes on from",
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
    what: "which of its candidates win, and which tie",
    extent: (facts) => present([facts.trees], { atMost: product(facts.trees, splitsMax(facts)), unit: "splits" }),
  },
  categoryWeights: {
    learner: "passive",
    what:
      "of a set of categories that wins, that each of them alone would have a lower leaf weight in the node " +
      "than those that are left",
    extent: ({ trees, passiveParty: { groupedFeatures: count } }) =>
      present([trees, count], { atMost: null, unit: "sets", note: "a hint about labels" }),
  },
  predictedIds: {
    learner: "passive",
    what: "the ids that are to be predicted",
    extent: ({ predictedRows: count }) => present([count], { atMost: count, unit: "ids" }),
  },
  scoredIds: {
    learner: "passive",
    what: "the ids that are to be scored, and with which model",
    extent: (facts) => scored(facts, "ids"),
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

export type DisclosureName = keyof typeof disclosureEntries;

export interface Disclosure extends Extent {
  readonly name: DisclosureName;
  readonly learner: string;
  readonly about: string;
  readonly what: string;
}

/** All disclosures between the active and one passive party, and those that this job does not have. */
export function disclosuresOf(facts: DisclosureFacts): {
  readonly reveals: readonly Disclosure[];
  readonly absent: readonly DisclosureName[];
} {
  const reveals: Disclosure[] = [];
  const absent: DisclosureName[] = [];
  for (const [key, { learner, what, extent }] of Object.entries<DisclosureEntry>(disclosureEntries)) {
    const name = key as DisclosureName;
    const found = extent(facts);
    if (found === null) absent.push(name);
    else
      reveals.push({
        name,
        learner: facts[learner],
        about: facts[learner === "active" ? "passive" : "active"],
        what,
        ...found,
      });
  }
  return { reveals, absent };
}

/** Null where one of the numbers that it is made of is zero: there is nothing of it. */
function present(factors: readonly (number | null)[], extent: Extent | null): Extent | null {
  return factors.includes(0) ? null : extent;
}

/** @param condition what makes a feature one of them, where their number is not known */
function someFeatures(count: number | null, condition: string): Extent | null {
  return present([count], { atMost: count, unit: "features", ...(count === null ? { note: condition } : {}) });
}

function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((total, factor) => (total === null || factor === null ? null : total * factor), 1);
}

/** Nodes of a tree at which candidates are compared: all that are not on the last level. */
function nodesMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : 2 * leaves - 1);
}

function splitsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : leaves - 1);
}

/** Levels of splits. */
function levelsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : depth, leaves === 0 ? null : leaves - 1);
}

/** Those whose children may be split further: passive parties are told who goes where. */
function levelsToldMax(facts: DisclosureFacts): number | null {
  const levels = levelsMax(facts);
  return levels === null ? null : levels - 1;
}

/** Null: there is no limit that is known. */
function smallest(...limits: readonly (number | null)[]): number | null {
  const known = limits.filter((limit) => limit !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * Thresholds in both directions of missing values, as gbdt/split/candidate.ts counts them with a monotone constraint.
 */
function candidatesMax({ passiveParty: { candidates, features }, binsMax }: DisclosureFacts): number | null {
  return candidates ?? (features === null ? null : 2 * binsMax * features);
}

function candidateNote(facts: DisclosureFacts): string {
  const known = candidatesMax(facts);
  const many =
    known === null
      ? `${formatCount(2 * facts.binsMax)} candidates per feature that it brings`
      : `${formatCount(known)} candidates`;
  const nodes = nodesMax(facts);
  const where = nodes === null ? "the nodes" : `up to ${formatCount(nodes)} nodes`;
  return `up to ${many}, at ${where} of each of ${formatCount(facts.trees)} trees`;
}

/** Instances whose gradients are encrypted in a round; validation rows never are. */
function sampleMax({ instances: all, validationRows, sampling }: DisclosureFacts): number | null {
  if (all === null) return null;
  const instances = all - (validationRows ?? 0);
  if (sampling === null) return instances;
  switch (sampling.method) {
    case "none":
      return instances;
    case "uniform":
      return Math.max(1, Math.round(sampling.share * instances));
    case "goss":
      return Math.min(
        instances,
        Math.max(1, Math.round(sampling.topShare * instances)) + Math.round(sampling.otherShare * instances),
      );
    case "folds":
      return instances - Math.floor(instances / sampling.folds);
  }
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
          `goss: ${percent(sampling.topShare)} of the people are drawn because the model gets them wrong, ` +
          `beside ${percent(sampling.otherShare)} by chance; a hint about labels`,
      };
    case "folds":
      return { atMost: count, unit: "bits", note: `who is in which of ${sampling.folds} folds, drawn by the seed` };
  }
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(4))} %`;
}

function scored({ passiveParty: { scoringIdsMax: most } }: DisclosureFacts, unit: string): Extent | null {
  if (most === "refused") return null;
  const bound = most === null ? "as far as the party's policy allows" : `up to ${formatCount(most)} ids per request`;
  return { atMost: null, unit, note: `${afterwards}, ${bound}` };
}
