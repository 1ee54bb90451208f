/** What each party knows about a job before it starts, for the list of disclosures. */
import { trainingParameters, type TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { chooseScheme, type SchemeChoice, schemeNamed } from "../scheme/registry.ts";
import type { PartyTable } from "../data/dataset.ts";
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import type { TrainingRows } from "../gbdt/rows/training-rows.ts";
import { outputsPerInstance } from "../gbdt/objective/outputs.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import { candidateCount } from "../gbdt/split/candidate.ts";
import { categoryCountMax } from "../gbdt/split/category-binning.ts";
import { minimumsOfJob, trainingInstanceCount } from "../gbdt/split/job-minimums.ts";
import { type Minimums, noMinimums } from "../gbdt/split/offered-candidates.ts";
import { type AgreedParameters, agreedParameters, firstTreeOf, treeCountOf } from "../protocol/job-parameters.ts";
import type { Job } from "../protocol/job.ts";
import { groupNames } from "../protocol/interaction-groups.ts";
import { factsOfJob } from "../base/membership.ts";
import { sendsTreeShape } from "../protocol/hidden/terms.ts";
import type { Scheme } from "../scheme/scheme.ts";
import type { PassiveConfig } from "./config/config.ts";
import type { DisclosureFacts, PassiveFacts, Sampling } from "../privacy/disclosures.ts";
import { layoutOfJob, withGrid } from "./job-grid.ts";
import { binTable } from "./tables/party-data.ts";
import { toMinimums, toSchemeLimits } from "./policy.ts";
import { formText } from "./preset-form.ts";
import { smallCategoriesOf } from "./tables/small-categories.ts";

/** What the active party knows about a passive party. */
export const unknownParty: PassiveFacts = {
  features: null,
  candidates: null,
  constrainedFeatures: null,
  groupedFeatures: null,
  minimums: null,
  scoringIdsMax: null,
};

export type OwnFacts = Omit<DisclosureFacts, "active" | "passive" | "passiveParty" | "alignment">;

export function jobFacts(
  job: Job,
  rows: TrainingRows,
  { predictedRows, hasStart }: Pick<OwnFacts, "predictedRows" | "hasStart">,
): OwnFacts {
  const { training, privacy } = job;
  const heldOut = rows.validation?.length ?? 0;
  const task = new BoostingTask(training, rows);
  const gradients = task.gradients(task.startMargins());
  const granted = withGrid(job, rows.trainedCount);
  const layout = layoutOfJob(granted, gradients);
  return {
    // The trees of a start model exist already.
    ...factsOfAgreed(agreedParameters({ ...granted, start: null })),
    hasStart,
    binsMax: training.enable_categorical ? Math.max(training.max_bin, categoryCountMax) : training.max_bin,
    instances: rows.count,
    ciphertextsPerInstance: layout.plaintexts.length,
    sampling: samplingOf(training),
    classes: outputsPerInstance(training) > 1 ? outputsPerInstance(training) : 0,
    validationRows: heldOut,
    predictedRows,
    peopleMin: minimumsOfJob(noMinimums, privacy, trainingInstanceCount(rows.count, heldOut)).perCandidate,
    categoryPeopleMin: training.min_category_people,
    presetForm: formText(job),
  };
}

function samplingOf({
  sampling_method: method,
  subsample,
  top_rate: topFraction,
  other_rate: otherFraction,
}: TrainingParameters): Sampling {
  if (method === "goss") return { method, topFraction, otherFraction };
  return subsample < 1 ? { method, fraction: subsample } : { method: "none" };
}

function keyWords({ scheme, schemeParameters }: SchemeChoice): string {
  return schemeNamed(scheme).describe(schemeParameters);
}

/** The most that any job may reveal under a passive party's policy, whichever active party asks. */
export function policyFacts(
  { name, active, policy, output }: PassiveConfig,
  table: PartyTable,
): readonly DisclosureFacts[] {
  const binsMax = trainingParameters.max_bin.max;
  const { keyBitsMin: keyBits } = toSchemeLimits(policy);
  const keys = policy.schemes.map((scheme) => keyWords(chooseScheme(scheme, { keyBits, insecureKey: true })));
  const features = binTable(table, {
    maxBin: binsMax,
    enableCategorical: true,
    maxCatToOnehot: trainingParameters.max_cat_to_onehot.default,
  });
  // Names stay with the owner: this is printed, and never logged.
  const passiveParty = {
    ...ownSide(features, { policy, output }, toMinimums(policy)),
    smallCategories: smallCategoriesOf(features),
  };
  return active.map((caller) => ({
    ...unknownJob,
    active: caller.name,
    passive: name,
    trees: policy.max_trees,
    rounds: policy.max_trees,
    hasStart: policy.warm_start,
    defences: policy.privacy,
    isPolicy: true,
    localRounds: 0,
    depth: policy.max_depth,
    leaves: 0,
    binsMax,
    ...membersOf(policy.schemes.map(schemeNamed), true, policy.privacy.hidden_outcomes),
    key: keys.join(" or "),
    instances: table.ids.length,
    alignment: { activeIds: policy.max_active_ids, passiveIds: table.ids.length },
    columnsAreSampled: null,
    groups: null,
    ...(policy.vetting === "refused" ? {} : { vetting: { isNamed: policy.vetting === "named", isJob: false } }),
    passiveParty,
  }));
}

/** What a job that a passive party has agreed to will reveal. */
export function agreedFacts(
  agreed: AgreedParameters,
  parties: { readonly active: string; readonly passive: string },
  rows: { readonly instances: number; readonly validation: number },
  features: readonly BinnedFeature[],
  config: OwnConfig,
): DisclosureFacts {
  return {
    ...unknownJob,
    ...parties,
    ...factsOfAgreed(agreed),
    hasStart: agreed.startTrees > 0,
    binsMax: agreed.maxBin,
    instances: rows.instances,
    validationRows: rows.validation,
    alignment: null, // if there was one, it has ended
    ...vettingFacts(agreed, config),
    passiveParty: ownSide(
      features,
      config,
      minimumsOfJob(toMinimums(config.policy), agreed.defences, trainingInstanceCount(rows.instances, rows.validation)),
    ),
  };
}

/** Of a passive party before an alignment: its columns are not binned yet. */
export interface OwnShape {
  readonly rows: number;
  readonly features: number;
  readonly constrainedFeatures: number;
}

/** What a job that is requested of a passive party would reveal, at most. @param rows of the active party */
export function requestedFacts(
  agreed: AgreedParameters,
  parties: { readonly active: string; readonly passive: string },
  rows: number,
  { rows: ownRows, features, constrainedFeatures }: OwnShape,
  config: OwnConfig,
): DisclosureFacts {
  const minimums = minimumsOfJob(toMinimums(config.policy), agreed.defences, trainingInstanceCount(rows, 0));
  const own = ownSide([], config, minimums);
  return {
    ...unknownJob,
    ...parties,
    ...factsOfAgreed(agreed),
    hasStart: agreed.startTrees > 0,
    binsMax: agreed.maxBin,
    instances: Math.min(rows, ownRows),
    alignment: { activeIds: rows, passiveIds: ownRows },
    ...vettingFacts(agreed, config),
    passiveParty: {
      ...own,
      features,
      candidates: null,
      constrainedFeatures,
      groupedFeatures: agreed.enableCategorical ? null : 0,
    },
  };
}

function vettingFacts({ vetting }: AgreedParameters, { policy }: OwnConfig): Pick<DisclosureFacts, "vetting"> {
  return vetting ? { vetting: { isNamed: policy.vetting === "named", isJob: true } } : {};
}

/** What follows from what both roles agree on: the trees that are to be grown, and what is sent for them. */
function factsOfAgreed(agreed: AgreedParameters) {
  const trees = treeCountOf(agreed) - firstTreeOf(agreed);
  const scheme = schemeNamed(agreed.scheme);
  return {
    trees,
    rounds: trees / agreed.treesPerRound,
    defences: agreed.defences,
    localRounds: agreed.localRounds,
    depth: agreed.maxDepth,
    leaves: agreed.maxLeaves,
    ...membersOf([scheme], sendsTreeShape(agreed) || agreed.defences.hidden_sums, agreed.defences.hidden_outcomes),
    key: scheme.describe(agreed.schemeParameters),
    columnsAreSampled: Math.min(agreed.colsampleBytree, agreed.colsampleBylevel, agreed.colsampleBynode) < 1,
    groups: groupNames(agreed.interactionGroups).length,
    ...(agreed.vetting ? { vetting: { isNamed: null, isJob: true } } : {}),
  };
}

/** @param schemes that the job may have */
function membersOf(
  schemes: readonly Scheme[],
  treeShapeIsSent: boolean,
  hiddenOutcomes: boolean,
): Pick<DisclosureFacts, "memberships" | "treeShapeIsSent"> {
  const names = new Set(schemes.map(({ membership }) => membership));
  return { memberships: Array.from(names, (name) => factsOfJob(name, hiddenOutcomes)), treeShapeIsSent };
}

/** What a passive party does not know in advance. */
const unknownJob = {
  ciphertextsPerInstance: null,
  sampling: null,
  classes: null,
  validationRows: null,
  predictedRows: null,
} as const;

type OwnConfig = Pick<PassiveConfig, "policy" | "output">;

function ownSide(features: readonly BinnedFeature[], { policy, output }: OwnConfig, minimums: Minimums): PassiveFacts {
  return partySide(features, {
    minimums,
    scoringIdsMax: policy.scoring ? policy.max_scoring_ids : "refused",
    explains: policy.explanations,
    takesContributions: output.contributions,
  });
}

/** What the owner of these features knows. */
export function partySide(
  features: readonly BinnedFeature[],
  rest: Pick<PassiveFacts, "minimums" | "scoringIdsMax" | "explains" | "takesContributions">,
): PassiveFacts {
  return {
    features: features.length,
    candidates: features.reduce((sum, feature) => sum + candidateCount(feature), 0),
    constrainedFeatures: features.filter(({ monotone = 0 }) => monotone !== 0).length,
    groupedFeatures: features.filter(({ categories, oneHot }) => categories !== undefined && oneHot !== true).length,
    ...rest,
  };
}
