/**
 * Estimates the cost of a simulation without running it: the cost models on the user's own table, after a short
 * calibration. Both schemes are estimated, whichever is requested.
 */
import { availableParallelism } from "node:os";
import { TandemError } from "../base/error.ts";
import type { PartyTable } from "../data/dataset.ts";
import { gradientRoundCount } from "../gbdt/boost/gradient-rounds.ts";
import { categoryCountMax } from "../gbdt/split/category-binning.ts";
import { nodesPerOutput } from "../party/job-grid.ts";
import { binningOf, type BinningParameters, binTable } from "../party/tables/party-data.ts";
import { countingDefences } from "../privacy/defences/defences.ts";
import { listCandidates, mostFrequentBins } from "../scheme/candidates/candidate-plan.ts";
import type { CostModel, JobShape, PassiveShape, Prediction } from "../scheme/cost-model.ts";
import { chooseScheme, type SchemeChoice, schemeNamed } from "../scheme/registry.ts";
import { type CrewEstimate, type CrewQuestion, estimateCrews } from "./crew-estimate.ts";
import { type PreparedSimulation, prepareSimulation } from "./prepare-simulation.ts";
import { recommendation, type Recommendation, type SchemeOutlook } from "./scheme-advice.ts";
import { type GivenJob, resolveJob } from "../party/resolve-job.ts";
import { checkDefences } from "../party/privacy-policy.ts";
import { bitsFor, sumsMost } from "../protocol/hidden-sums.ts";
import { type Job, secureKeyBits } from "../protocol/job.ts";
import { type ComparisonCost, comparisonCost } from "../scheme/maximum/comparison-cost.ts";
import type { SimulateOptions } from "./simulate-options.ts";

export interface Estimate extends Prediction {
  readonly kernel: string;
  /** Bits that a gradient is rounded to: as requested, or the most that the scheme supports. */
  readonly resolutionBits: number;
  readonly cores: number;
  readonly cpuSeconds: number;
  /** All parties on this machine, as `simulate` runs them. */
  readonly wallSeconds: number;
  readonly secondsPerTree: number;
  /** The parties on hosts of their own, over the line that was asked about; left out: none was. */
  readonly overLine?: LineEstimate;
  /** Per passive party; null unless workers were asked about. */
  readonly crews?: readonly CrewEstimate[];
}

/** The line between the active party and each passive one. */
export interface Line {
  readonly megabitsPerSecond: number;
  readonly roundTripMs: number;
}

export interface LineEstimate {
  /** Sending all bytes, and waiting for answers. */
  readonly lineSeconds: number;
  /** The whole job, at most: as if nothing were computed while bytes are on their way. */
  readonly wallSeconds: number;
  readonly secondsPerTree: number;
}

/** Questions beyond the job itself. */
export interface EstimateQuestions {
  /** Estimate for this number of rows instead of the table's own. */
  readonly rows?: number | undefined;
  readonly crew?: Omit<CrewQuestion, "cores"> | undefined;
  readonly line?: Line | undefined;
}

/** The estimate for the requested scheme, and those of all schemes for comparison. */
export interface Estimates extends Estimate {
  readonly scheme: string;
  readonly schemes: readonly SchemeOutlook[];
  readonly recommended: Recommendation;
}

/** For starting processes and creating certificates and the key. */
const startSeconds = 2.3;
/** Factor for cores that are idle while one party waits for the other. */
const idleFraction = 0.1;
/** A level asks for sums, then for the sides of the winners; each question waits for the answer before it. */
const waitingCallsPerLevel = 2;
const schemesCompared = ["paillier", "curve", "lattice"] as const;

export async function estimate(options: SimulateOptions, questions: EstimateQuestions = {}): Promise<Estimates> {
  const prepared = await prepareSimulation(options);
  const { scheme } = prepared.job;
  const outlooks = new Outlooks(prepared, questions);
  const schemes: SchemeOutlook[] = [];
  for (const name of schemesBeside(scheme)) schemes.push(await outlooks.of(options.job, name));
  const asked = schemes.find(({ scheme: name }) => name === scheme);
  if (asked?.estimate === undefined || asked.estimate === null)
    throw new TandemError("USAGE", asked?.refusal ?? `there is no scheme '${scheme}'`);
  const job = { rows: questions.rows ?? rowsOf(prepared), counting: countingDefences(prepared.job.privacy) };
  return { ...asked.estimate, scheme, schemes, recommended: recommendation(schemes, job) };
}

/** The schemes that a job is compared under. */
export function schemesBeside(scheme: string): readonly string[] {
  return [...new Set([...schemesCompared, scheme])];
}

/** A table's job under schemes and settings of it. Each scheme is calibrated once, and so is each comparison. */
export class Outlooks {
  readonly #prepared: PreparedSimulation;
  readonly #questions: EstimateQuestions;
  readonly #models = new Map<string, CostModel>();
  readonly #comparisons = new Map<string, ComparisonCost>();

  constructor(prepared: PreparedSimulation, questions: EstimateQuestions = {}) {
    this.#prepared = prepared;
    this.#questions = questions;
  }

  /** The job under one scheme, or why that scheme cannot train it. */
  async of(given: GivenJob, name: string): Promise<SchemeOutlook> {
    const prepared = this.#prepared;
    const questions = this.#questions;
    const scheme = schemeNamed(name);
    const choice = choiceOf(given, name);
    const facts = {
      scheme: name,
      key: scheme.describe(choice.schemeParameters),
      membership: scheme.membership,
      warning: scheme.warning(choice.schemeParameters),
    };
    try {
      const own = this.job(given, name);
      const layout = prepared.layoutFor(own);
      checkDefences(own.privacy, name);
      const rows = questions.rows ?? rowsOf(prepared);
      const resolutionBits = prepared.resolutionFor(own, rows);
      const isHidden = scheme.membership === "hidden";
      const compared = await this.#compared(own, { rows, resolutionBits, isHidden });
      const model = await this.#model(name, keyBitsOf(given));
      const job = estimateJob({ ...prepared, job: own, layout }, model, questions, compared);
      return { ...facts, estimate: { ...job, kernel: scheme.kernelName(), resolutionBits }, refusal: null };
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      return { ...facts, estimate: null, refusal: error.message };
    }
  }

  /** A preset may have another form there. @throws TandemError if the scheme refuses a setting */
  job(given: GivenJob, scheme: string): Job {
    return { ...this.#prepared.job, ...choiceOf(given, scheme), privacy: privacyWith(given, scheme) };
  }

  async #model(name: string, keyBits: number): Promise<CostModel> {
    const model = this.#models.get(name) ?? (await schemeNamed(name).costModel({ keyBits }));
    this.#models.set(name, model);
    return model;
  }

  /** Per passive party what a node's comparison costs; none where sums are sent. */
  async #compared(
    job: Job,
    { rows, resolutionBits, isHidden }: { rows: number; resolutionBits: number; isHidden: boolean },
  ): Promise<ComparisonCost[]> {
    if (!job.privacy.hidden_sums) return [];
    const bits = bitsFor(sumsMost(rows, resolutionBits) + 2 * job.training.lambda * 2 ** resolutionBits);
    const costs: ComparisonCost[] = [];
    for (const table of this.#prepared.train.slice(1)) {
      const candidates = listCandidates(binTable(table, binningOf(job))).length;
      const asked = `${bits} ${isHidden} ${candidates}`;
      // Masks of the lattice scheme are narrow, so that shares are widened first.
      const terms = { bits, ...(isHidden ? { shareBits: bits + 2 } : {}) };
      const cost = this.#comparisons.get(asked) ?? (await comparisonCost(terms, candidates));
      this.#comparisons.set(asked, cost);
      costs.push(cost);
    }
    return costs;
  }
}

function keyBitsOf({ keyBits, insecureKeyBits }: GivenJob): number {
  return insecureKeyBits ?? keyBits ?? secureKeyBits;
}

function choiceOf(given: GivenJob, scheme: string): SchemeChoice {
  return chooseScheme(scheme, { keyBits: keyBitsOf(given), insecureKey: given.insecureKeyBits !== undefined });
}

/** Keys are of the scheme that was asked for. */
function privacyWith(given: GivenJob, scheme: string): Job["privacy"] {
  return resolveJob({ ...given, scheme, keyBits: undefined, insecureKeyBits: undefined }).privacy;
}

function rowsOf({ train }: Pick<PreparedSimulation, "train">): number {
  return train[0].ids.length;
}

/** A job whose tables have been read and whose layout has been checked for overflow. */
export type EstimatedJob = Pick<PreparedSimulation, "train" | "job" | "layout">;

export function estimateJob(
  { train, job, layout }: EstimatedJob,
  costs: CostModel,
  questions: EstimateQuestions = {},
  compared: readonly ComparisonCost[] = [],
): Omit<Estimate, "kernel" | "resolutionBits"> {
  const { training } = job;
  const rows = questions.rows ?? train[0].ids.length;
  const times = rows / train[0].ids.length;
  const rounds = gradientRoundCount(training.num_round, training);
  const shape: JobShape = {
    rows,
    trees: rounds,
    // Without max_leaves, the number of leaves of a complete tree.
    depth: training.max_depth || Math.max(1, Math.ceil(Math.log2(training.max_leaves))),
    nodesMax: nodesPerOutput(training),
    outputsPerRound: layout.slots.length / 2,
    layout,
    passives: train.slice(1).map((table) => passiveShape(table, binningOf(job), times, job.privacy.hidden_sums)),
  };
  const prediction = withComparisons(costs.predict(shape), shape, compared);
  const cores = availableParallelism();
  const { crew, line } = questions;
  const cpuSeconds = prediction.passiveCpuSeconds.reduce((a, b) => a + b, prediction.activeCpuSeconds);
  const trainingSeconds = cpuSeconds / Math.min(cores, 2 + train.length - 1) / (1 - idleFraction);
  return {
    ...prediction,
    cores,
    cpuSeconds,
    wallSeconds: trainingSeconds + startSeconds,
    secondsPerTree: trainingSeconds / rounds,
    ...(line === undefined ? {} : { overLine: overLine(line, prediction, shape, compared) }),
    ...(crew === undefined ? {} : { crews: estimateCrews(prediction, shape, { ...crew, cores }) }),
  };
}

/** Parties compute on hosts of their own, one after the other; passive parties answer at the same time. */
function overLine(
  { megabitsPerSecond, roundTripMs }: Line,
  { bytes, activeCpuSeconds, passiveCpuSeconds }: Prediction,
  { trees, depth }: JobShape,
  compared: readonly ComparisonCost[],
): LineEstimate {
  const cores = availableParallelism();
  const computing = (activeCpuSeconds + Math.max(0, ...passiveCpuSeconds)) / cores / (1 - idleFraction);
  // All passive parties share the active party's line.
  const sending = (8 * (bytes.activeToPassive + bytes.passiveToActive)) / (megabitsPerSecond * 1e6);
  const callsPerLevel = waitingCallsPerLevel + Math.max(0, ...compared.map(({ requests }) => requests));
  const waiting = (trees * depth * callsPerLevel * roundTripMs) / 1000;
  const lineSeconds = sending + waiting;
  const trainingSeconds = lineSeconds + computing;
  return { lineSeconds, wallSeconds: trainingSeconds + startSeconds, secondsPerTree: trainingSeconds / trees };
}

/** Every node of a complete tree is compared. */
function withComparisons(
  prediction: Prediction,
  { trees, depth, outputsPerRound }: JobShape,
  compared: readonly ComparisonCost[],
): Prediction {
  if (compared.length === 0) return prediction;
  const nodes = trees * outputsPerRound * (2 ** depth - 1);
  const of = (value: (cost: ComparisonCost) => number): number =>
    nodes * compared.reduce((sum, cost) => sum + value(cost), 0);
  return {
    ...prediction,
    activeCpuSeconds: prediction.activeCpuSeconds + of(({ seconds }) => seconds),
    passiveCpuSeconds: prediction.passiveCpuSeconds.map((seconds, i) => seconds + nodes * compared[i].seconds),
    bytes: {
      activeToPassive: prediction.bytes.activeToPassive + of(({ bytesToPassive }) => bytesToPassive),
      passiveToActive: prediction.bytes.passiveToActive + of(({ bytesToActive }) => bytesToActive),
    },
  };
}

/**
 * @param times factor on the table's number of rows
 * @param sumsLeft the left side of every candidate is summed, also over the most frequent bin
 */
function passiveShape(table: PartyTable, binning: BinningParameters, times: number, sumsLeft: boolean): PassiveShape {
  const features = binTable(table, binning);
  const rows = Uint32Array.from({ length: table.ids.length }, (_, i) => i);
  const skipped = sumsLeft ? new Int32Array(features.length).fill(-1) : mostFrequentBins(features, rows);
  let rootAdditions = 0;
  features.forEach((feature, f) => {
    for (const bin of feature.bins) if (bin !== skipped[f]) rootAdditions++;
  });
  const binsMax = Math.max(binning.maxBin, binning.enableCategorical ? categoryCountMax : 0);
  return {
    features: features.length,
    candidates: listCandidates(features).length,
    bins: features.reduce((sum, feature) => sum + feature.binCount, 0),
    candidatesMax: 2 * features.length * binsMax,
    rootAdditions: rootAdditions * times,
  };
}
