/** Centralised boosting with all data in one place: the oracle of federated training. */
import { gradientsDigest, rootDigest } from "../../base/gradients/gradients-digest.ts";
import { assert } from "../../base/assert.ts";
import { rowLoops } from "../../base/rows/row-loops.ts";
import { rowNumbers } from "../../base/rows/row-numbers.ts";
import { TandemError } from "../../base/error.ts";
import type { Membership } from "../../base/membership.ts";
import type { Defences } from "../../privacy/defences/defences.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { type QuantisedGradients, sentGradients } from "../../base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../split/binning.ts";
import { BoostingMonitor } from "./boosting-monitor.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";
import { BoostingTask } from "./boosting-task.ts";
import { CentralisedSearch, type PartyColumns, type SearchWatch } from "../split/centralised-search.ts";
import { ColumnSampler, toColumnRates } from "./column-sampling.ts";
import { centralisedDart } from "./dart/centralised.ts";
import type { DrawDrops } from "./dart/drops.ts";
import { toSplitParameters, treeGains, type TreeGains } from "../split/gain.ts";
import { growTree, type GrowParameters } from "../tree/grow.ts";
import { objectiveFor } from "../objective/objectives.ts";
import { hasVectorLeaves } from "../objective/outputs.ts";
import type { Model } from "../tree/model.ts";
import { predictMargins } from "../tree/predict.ts";
import { type MembershipRules, membershipRules } from "../split/membership-rules.ts";
import { minimumsOfJob, trainingInstanceCount } from "../split/job-minimums.ts";
import { areOff, type Minimums, noMinimums } from "../split/offered-candidates.ts";
import { checkSampling, sampleRows } from "./row-sampling.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { CategoryNames } from "../split/split-test.ts";
import { addLeaf, type SplitRule, type Tree } from "../tree/tree.ts";
import { CountedColumns, type StartTest } from "../split/revealed-pieces.ts";
import { type RevealedSplits, revealedWithin } from "../split/revealed-splits.ts";
import {
  beginsBoostingRound,
  endsBoostingRound,
  etaPerTree,
  boostingRoundOf,
  parallelTreesField,
  gradientRoundCount,
} from "./gradient-rounds.ts";
import { roundsBefore } from "./warm-start.ts";

/** Rounds real gradients to the integer grid. */
export type Quantise = (gradients: RealGradients) => QuantisedGradients;

/** What the models of one job share, if the training of several is interleaved. */
export interface SharedJob {
  /** See trainingInstanceCount. */
  readonly instanceCount: number;
  /** Number of interleaved models; default: one. */
  readonly folds?: number;
  /** The limits of the job if each model has its own parameters; left out: the model's own. */
  readonly whole?: TrainingParameters;
  /** Per party what splits have revealed so far; null where that is not limited, as for the active party. */
  readonly revealed: readonly (RevealedSplits | null)[];
  /**
   * The first round with the same gradients, by their digest, or the first tree with the same root where members are
   * hidden: its noise is that of all of them.
   */
  readonly rounds: Map<string, number>;
}

export interface CentralisedTraining {
  /** Index 0 = the active party, then passives in config order. */
  readonly parties: readonly (readonly BinnedFeature[])[];
  readonly rows: TrainingRows;
  readonly parameters: TrainingParameters;
  /**
   * A warm start: num_round more rounds after this model, with each party's columns, to which its rules refer. Null or
   * left out: none.
   */
  readonly start?: {
    readonly model: Model;
    readonly columns: readonly (readonly Float32Array[])[];
    readonly names?: readonly (readonly CategoryNames[])[];
  } | null;
  readonly quantise: Quantise;
  /** Which trees each round of dart drops; left out: drawn from the seed. */
  readonly drops?: DrawDrops;
  /** Per party the secret of its column sampling; default: "". */
  readonly samplingSecrets?: readonly string[];
  /**
   * Per party the minimums for candidates; default: none. The active party has none in every job, since it sees its
   * own sums.
   */
  readonly minimums?: readonly Minimums[];
  /** The defences of the job; default: none. */
  readonly defences?: Defences;
  /** What passive parties learn about members of nodes; default: "sent". */
  readonly membership?: Membership;
  /** Per party the secret of its noise; index 0, the active party, has none. Required if there is noise. */
  readonly noiseSecrets?: readonly Uint8Array[];
  /** Left out: the job has this model only. */
  readonly job?: SharedJob;
  /** A tree's index among those of all interleaved models, which column sampling uses. Left out: its own index. */
  readonly treeNumber?: (treeIndex: number) => number;
  /** Observes the trees in which passive parties take part; left out: no observer. */
  readonly watch?: (tree: WatchedTree) => SearchWatch;
  /** Called after each tree, with the margins that include it. */
  readonly onTree?: (tree: Tree<SplitRule>, treeIndex: number, margins: Float64Array) => void;
}

/** A tree that is about to grow. */
export interface WatchedTree {
  readonly tree: number;
  readonly round: number;
  /** As they are sent. */
  readonly gradients: QuantisedGradients;
  readonly gain: TreeGains["sent"];
}

export interface TrainedModel extends Model {
  /** Margins of all instances after the last tree that was grown. */
  readonly trainMargins: Float64Array;
}

/** @throws TandemError LABEL_INVALID, WEIGHT_INVALID or USAGE (base_score, a start model that does not fit) */
export async function trainCentralised(training: CentralisedTraining): Promise<TrainedModel> {
  const rounds = centralisedRounds(training);
  for (;;) {
    const { done, value } = await rounds.next();
    if (done === true) return value;
  }
}

/** trainCentralised boosting round by boosting round, so that several models can be interleaved. */
export async function* centralisedRounds(training: CentralisedTraining): AsyncGenerator<void, TrainedModel> {
  const { parties, rows, parameters, quantise, onTree, start = null } = training;
  for (const feature of parties.flat()) {
    assert(feature.bins.length === rows.count, "features and labels of different length");
  }
  const task = new BoostingTask(parameters, rows);
  const startBoostingRounds = roundsBefore(start?.model ?? null, task, parameters);
  const startRounds = gradientRoundCount(startBoostingRounds, parameters);
  const monitor = new BoostingMonitor(parameters, task, { rounds: startBoostingRounds, best: null });
  const dart = centralisedDart(parameters, task, start, training.drops);
  const margins =
    start === null
      ? task.startMargins()
      : predictMargins(start.model, start.columns, rows.count, start.names, rows.baseMargins);
  checkSampling(parameters);
  checkGrowth(parameters);
  checkForest(parameters);
  checkConstraints(parameters, parties.flat());
  const growParameters = toGrowParameters(parameters);
  const { instanceCount, revealed, rounds } = training.job ?? jobOf(training);
  const rules = membershipRules[training.membership ?? "sent"];
  const columns = parties.map((features, owner) => ({
    features,
    sampler: new ColumnSampler(toColumnRates(parameters), parameters.seed, training.samplingSecrets?.[owner] ?? ""),
    ...offersOf(training, rules, owner, instanceCount),
    revealed: revealed[owner],
    noiseSecret: owner === 0 ? null : (training.noiseSecrets?.[owner] ?? null),
  }));
  assert(areOff(columns[0].minimums), "the active party has no minimums");
  const isConstrained = parties.flat().some(({ monotone = 0 }) => monotone !== 0);
  const trees: Tree<SplitRule>[] = [...(start?.model.trees ?? [])];
  let boostedMargins = margins;
  let inBoostingRound: RealGradients = { values: [], bounds: [] };
  for (
    let gradientRound = startRounds;
    gradientRound < startRounds + gradientRoundCount(parameters.num_round, parameters);
    gradientRound++
  ) {
    if (beginsBoostingRound(gradientRound, parameters)) {
      if (dart !== null)
        boostedMargins = await dart.marginsForGradients(boostingRoundOf(gradientRound, parameters), margins);
      inBoostingRound = task.gradients(boostedMargins);
    }
    const { sample, ...real } = sampleRows(parameters, gradientRound, inBoostingRound, rows.training);
    const gradients = quantise(real);
    const sent = sentGradients(gradients);
    checkNoise(training, gradients);
    const isLocal = boostingRoundOf(gradientRound, parameters) < parameters.local_rounds;
    const firstTree = training.treeNumber?.(trees.length) ?? trees.length;
    const round = firstTree / task.treeOutputs.length;
    const question = gradients.noise === undefined || isLocal ? "" : gradientsDigest(sent, sample);
    if (question !== "") firstWith(rounds, question, round);
    for (const [i, outputs] of task.treeOutputs.entries()) {
      const treeIndex = trees.length;
      const gains = treeGains(gradients, growParameters, outputs, isConstrained, training.defences?.hidden_sums);
      const treeNumber = training.treeNumber?.(treeIndex) ?? treeIndex;
      const search = new CentralisedSearch(
        {
          tree: treeNumber,
          round: rounds.get(question) ?? round,
          rootTree:
            rules.noiseIsByNumber && question !== ""
              ? firstWith(rounds, rootDigest(gradients, outputs, sample), treeNumber)
              : null,
          noiseNames: (derives) => rules.noiseNames(treeNumber, derives),
        },
        isLocal ? columns.slice(0, 1) : columns,
        gradients,
        gains,
        isLocal
          ? undefined
          : training.watch?.({ tree: treeIndex, round: gradientRound, gradients: sent, gain: gains.sent }),
      );
      const grown = await growTree(search, gradients, sample, gains.own, growParameters);
      const { tree, leaves } = task.withOwnLeaves(grown, outputs, boostedMargins, sample);
      if (dart === null) addLeafWeights(margins, task.outputCount, treeIndex, tree, leaves);
      else dart.add(tree, leaves);
      const isLastOfBoostingRound = i + 1 === task.treeOutputs.length && endsBoostingRound(gradientRound, parameters);
      if (isLastOfBoostingRound) await dart?.endBoostingRound(margins);
      trees.push(tree);
      onTree?.(tree, treeIndex, margins);
    }
    if (endsBoostingRound(gradientRound, parameters)) {
      await monitor.afterRound(margins, dart?.weights);
      if (monitor.isOver) break;
      yield;
    }
  }
  trees.length = gradientRoundCount(monitor.roundsKept, parameters) * task.treeOutputs.length;
  return {
    objective: parameters.objective,
    baseMargin: start?.model.baseMargin ?? task.baseMargin(),
    ...modelOutputs(task),
    ...parallelTreesField(parameters),
    ...(dart === null ? {} : { treeWeights: monitor.weightsKept(dart.weights) }),
    trees,
    trainMargins: margins,
  };
}

/** A job of one model. */
function jobOf({ parties, rows, start = null, defences }: CentralisedTraining): SharedJob {
  const rules = (start?.model.trees ?? []).flat().flatMap((node) => (node.kind === "split" ? [node.rule] : []));
  const revealed = parties.map((features, party) => {
    if (party === 0) return null;
    const own = rules.filter(({ owner }) => owner === party);
    const columns = (): CountedColumns =>
      new CountedColumns(features, rows.training ?? rowNumbers(rows.count), own.map(startTest));
    return revealedWithin(defences, columns, own);
  });
  return {
    instanceCount: trainingInstanceCount(rows.count, rows.validation?.length ?? 0),
    revealed,
    rounds: new Map(),
  };

  function startTest(test: SplitRule): StartTest {
    assert(start !== null, "rules of a start model");
    const names = start.names?.[test.owner]?.[test.feature] ?? null;
    return { test, values: start.columns[test.owner][test.feature], names };
  }
}

function offersOf(
  training: CentralisedTraining,
  rules: MembershipRules,
  owner: number,
  instanceCount: number,
): Pick<PartyColumns, "minimums" | "ever"> {
  const minimums = minimumsOfParty(training, owner, instanceCount);
  if (owner === 0) return { minimums, ever: null };
  // Interleaved models are trained on different rows; the job's rows are all of them.
  const { training: trained, count } = training.rows;
  const summed = (): Uint32Array => (training.job === undefined ? trained : null) ?? rowNumbers(count);
  return rules.offers(minimums, training.parties[owner], summed);
}

/** Defences apply to passive parties only. */
function minimumsOfParty({ minimums, defences }: CentralisedTraining, party: number, instanceCount: number): Minimums {
  const policy = minimums?.[party] ?? noMinimums;
  return party === 0 || defences === undefined ? policy : minimumsOfJob(policy, defences, instanceCount);
}

/** The first number with this digest. */
function firstWith(numbers: Map<string, number>, digest: string, number: number): number {
  const first = numbers.get(digest) ?? number;
  numbers.set(digest, first);
  return first;
}

function checkNoise({ defences, parties, noiseSecrets }: CentralisedTraining, { noise }: QuantisedGradients): void {
  const isNoisy = noise !== undefined;
  assert(isNoisy === (defences?.answer_noise ?? 0) > 0, "gradients are quantised for the noise of the job");
  assert(!isNoisy || parties.every((_, i) => i === 0 || noiseSecrets?.[i] !== undefined), "noise needs its secrets");
}

/** The model's fields for outputs: their number if several, their quantiles, and whether rows have base margins. */
export function modelOutputs({
  outputCount,
  quantiles,
  rows: { baseMargins },
}: BoostingTask): Pick<Model, "outputCount" | "quantiles" | "takesBaseMargin"> {
  return {
    ...(outputCount === 1 ? {} : { outputCount }),
    ...(quantiles === null ? {} : { quantiles }),
    ...(baseMargins === undefined ? {} : { takesBaseMargin: true }),
  };
}

/**
 * @throws TandemError USAGE if a constraint names a categorical feature, which has no order, or leaves have several
 * outputs
 */
export function checkConstraints(parameters: TrainingParameters, features: readonly BinnedFeature[]): void {
  for (const { name, monotone = 0, categories } of features) {
    if (monotone !== 0 && categories !== undefined)
      throw new TandemError("USAGE", `a monotone constraint names '${name}', but categories have no order`);
  }
  if (features.some(({ monotone = 0 }) => monotone !== 0)) checkOrderedLeaves(parameters);
}

/** @throws TandemError USAGE if leaves cannot keep the order of a monotone constraint */
export function checkOrderedLeaves(parameters: TrainingParameters, whose = ""): void {
  if (hasVectorLeaves(parameters))
    throw new TandemError("USAGE", `${whose}monotone constraints need multi_strategy one_output_per_tree`);
  if (objectiveFor(parameters.objective).leafQuantiles !== undefined)
    throw new TandemError(
      "USAGE",
      `${whose}monotone constraints do not hold with ${parameters.objective}: its leaves are quantiles of residuals`,
    );
}

/** @throws TandemError USAGE if the size of a tree is unlimited */
export function checkGrowth({
  max_depth: depth,
  max_leaves: leaves,
}: Pick<TrainingParameters, "max_depth" | "max_leaves">): void {
  if (depth === 0 && leaves === 0)
    throw new TandemError("USAGE", "max_depth and max_leaves are both 0, so that trees have no limit. Set one of them");
}

/** @throws TandemError USAGE, as in XGBoost: each tree of a round would move by the whole residual of a leaf */
export function checkForest({
  num_parallel_tree: trees,
  objective,
}: Pick<TrainingParameters, "num_parallel_tree" | "objective">): void {
  if (trees > 1 && objectiveFor(objective).leafQuantiles !== undefined)
    throw new TandemError(
      "USAGE",
      `num_parallel_tree must be 1 with ${objective}: its leaves are quantiles of residuals`,
    );
}

export function toGrowParameters(parameters: TrainingParameters): GrowParameters {
  return {
    ...toSplitParameters(parameters),
    growPolicy: parameters.grow_policy,
    maxDepth: parameters.max_depth,
    maxLeaves: parameters.max_leaves,
    eta: etaPerTree(parameters),
  };
}

/** margins += leaf weight: float32 leaf values, summed in double. `leaves` has each instance's leaf id. */
export function addLeafWeights<R>(
  margins: Float64Array,
  outputCount: number,
  treeIndex: number,
  tree: Tree<R>,
  leaves: Uint32Array,
): void {
  if (tree.some((node) => node.kind === "leaf" && node.weights !== undefined)) {
    for (let i = 0; i < leaves.length; i++) addLeaf(margins, i, outputCount, treeIndex, tree[leaves[i]]);
    return;
  }
  // The weight of a split is never used: rows end at leaves.
  const weights = Float64Array.from(tree, (node) => (node.kind === "leaf" ? node.weight : Number.NaN));
  rowLoops().addByLeaf(leaves, weights, margins, treeIndex % outputCount, outputCount);
}
