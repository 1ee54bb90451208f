/** `tandem reproduce`: the paper's section IV on our system. Plans the trials, runs what is missing, and sums up. */
import { join } from "node:path";
import { assert } from "../../src/base/assert.ts";
import { type Machine, thisCommit, thisMachine } from "../bench/machine.ts";
import { ablationTrials, ablationOutcome, paperSettingPairs } from "./ablation.ts";
import { type TrialRunner, planTrials, runTrials, type TrialPlan, type TrialProgress } from "../trials/trial-runner.ts";
import { TrialStore } from "../trials/trial-store.ts";
import type { TrialSpec } from "../trials/trial.ts";
import { checkClaims, type Claim } from "./claims.ts";
import { type CreditTable, cutCreditTable, readCreditTable, syntheticCreditTable } from "../trials/credit-tables.ts";
import { datasetOf, type ExperimentName } from "./experiment-names.ts";
import { keysOutcome, keysSweep } from "./keys.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import { overflowOutcome } from "./overflow.ts";
import { type DatasetName, type PaperDataset, paperDatasets } from "../trials/paper-datasets.ts";
import { precisionOutcome } from "./precision.ts";
import { programDigest } from "../trials/program-digest.ts";
import { realGradients } from "./real-gradients.ts";
import { roundsOutcome, roundsSweep } from "./rounds.ts";
import { samplesOutcome, samplesSweep } from "./samples.ts";
import { type ScaleName, type Scale, scales } from "./scale.ts";
import { pairOf, type Sweep } from "./sweep.ts";

export interface ReproduceOptions {
  readonly experiments: readonly ExperimentName[];
  /** Folder with the original public files; null for synthetic data of the same shape. */
  readonly data: string | null;
  readonly scale: ScaleName;
  /** Overrides the scale's repeats. */
  readonly repeats: number | null;
  readonly out: string;
  readonly seed: number;
  readonly progress: TrialProgress;
  readonly onPhase: (what: string) => void;
}

export interface Reproduction {
  readonly scale: ScaleName;
  readonly machine: Machine;
  readonly commit: string;
  /** At which the trials were measured; several if another version continued the reproduction. */
  readonly trialCommits: readonly string[];
  readonly seed: number;
  readonly finishedAt: string;
  readonly synthetic: boolean;
  readonly data: readonly { readonly title: string; readonly source: string; readonly digest: string }[];
  readonly experiments: readonly ExperimentOutcome[];
  readonly claims: readonly Claim[];
}

export async function reproduce(options: ReproduceOptions): Promise<Reproduction> {
  const scale = scaleOf(options);
  const runner = await runnerFor(options, scale);
  const { tables } = runner;
  const trials = await runTrials(allGroups(options, scale), runner, options.progress);
  const experiments: ExperimentOutcome[] = [];
  for (const name of options.experiments) {
    options.onPhase(name);
    experiments.push(await outcomeOf(name, scale, options, tables, trials));
  }
  return {
    scale: scale.name,
    machine: thisMachine(),
    commit: thisCommit(),
    trialCommits: trials.commits,
    seed: options.seed,
    finishedAt: new Date().toISOString(),
    synthetic: options.data === null,
    data: [...tables.values()].map(({ dataset, source, digest }) => ({ title: dataset.title, source, digest })),
    experiments,
    claims: checkClaims(scale, trials),
  };
}

/** What `reproduce` would run, and how long it would take. */
export async function planReproduction(options: ReproduceOptions): Promise<TrialPlan> {
  const scale = scaleOf(options);
  return planTrials(allGroups(options, scale), await runnerFor(options, scale));
}

async function runnerFor(options: ReproduceOptions, scale: Scale): Promise<TrialRunner> {
  const tables = await loadTables(options, scale);
  const store = await TrialStore.open(join(options.out, "cells"));
  return { store, tables, programDigest: programDigest(), seed: options.seed };
}

function allGroups({ experiments }: ReproduceOptions, scale: Scale): TrialSpec[][] {
  return experiments.flatMap((name) => groupsOf(name, scale));
}

function scaleOf({ scale, repeats }: ReproduceOptions): Scale {
  return repeats === null ? scales[scale] : { ...scales[scale], repeats: () => repeats };
}

async function loadTables(
  { data, experiments, seed, onPhase }: ReproduceOptions,
  scale: Scale,
): Promise<Map<DatasetName, CreditTable>> {
  const tables = new Map<DatasetName, CreditTable>();
  for (const name of new Set(experiments.map((experiment) => datasetOf[experiment]))) {
    const dataset: PaperDataset = paperDatasets[name];
    onPhase(`reading ${dataset.title}`);
    const rowCount = Math.ceil((dataset.trainRows + dataset.testRows) * scale.rowFraction) + 1;
    tables.set(
      name,
      data === null ? syntheticCreditTable(dataset, rowCount, seed) : await readCreditTable(dataset, data),
    );
  }
  return tables;
}

/** The trials that an experiment needs; those compared with each other in one group. */
function groupsOf(name: ExperimentName, scale: Scale): TrialSpec[][] {
  const pairs = ({ points }: Sweep): TrialSpec[][] => points.map(({ unbatched, batched }) => [unbatched, batched]);
  switch (name) {
    case "keys":
      return pairs(keysSweep(scale));
    case "samples":
      return pairs(samplesSweep(scale));
    case "rounds":
      return pairs(roundsSweep(scale));
    case "ablation":
      return [ablationTrials(scale), ...paperSettingPairs(scale).map(({ unbatched, batched }) => [unbatched, batched])];
    case "overflow":
    case "precision":
      return []; // plain sums: nothing is encrypted
  }
}

async function outcomeOf(
  name: ExperimentName,
  scale: Scale,
  { seed }: ReproduceOptions,
  tables: ReadonlyMap<DatasetName, CreditTable>,
  trials: Awaited<ReturnType<typeof runTrials>>,
): Promise<ExperimentOutcome> {
  switch (name) {
    case "keys":
      return keysOutcome(scale, trials);
    case "samples":
      return samplesOutcome(scale, trials);
    case "rounds":
      return roundsOutcome(scale, trials);
    case "ablation":
      return ablationOutcome(scale, trials);
    case "overflow":
    case "precision":
      return plainOutcome(name, scale, seed, tables);
  }
}

/** The experiments on plaintexts share the job whose gradients they sum. */
async function plainOutcome(
  name: "overflow" | "precision",
  scale: Scale,
  seed: number,
  tables: ReadonlyMap<DatasetName, CreditTable>,
): Promise<ExperimentOutcome> {
  const table = tables.get(datasetOf[name]);
  assert(table !== undefined, `the table of ${name} is loaded`);
  const { batched: spec } = pairOf(scale, { dataset: table.dataset.name, trees: scale.trees, keyBits: scale.keyBits });
  const rows = cutCreditTable(table, { train: spec.trainRows, test: spec.testRows }, seed);
  const gradients = await realGradients(spec, rows.train);
  if (name === "overflow") return overflowOutcome(gradients, table.dataset, scale.draws, seed);
  return precisionOutcome({ gradients, table, rowDraws: scale.rowDraws, dataset: table.dataset, spec, rows, seed });
}
