/**
 * A trial: one training job of an experiment, with real parties, and what came out of it. Trials of different
 * experiments that ask for the same job have the same name and are run once.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../../src/base/error.ts";
import { type CodecParameters, resolveParameters, codecWith } from "../../src/base/parameters/parameters.ts";
import { type TrainingParameters, trainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { slotResolution } from "../../src/codec/slot.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import { firstDifference } from "../../src/gbdt/tree/model-compare.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import type { Metrics } from "../../src/record/events/training-fields.ts";
import type { OperationCounts } from "../../src/scheme/scheme.ts";
import type { Traffic } from "../../src/messages/tally.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { type FederationParty, type FederationResult, runFederation } from "../../src/simulate/federation.ts";
import { type CutTable, idName, labelName } from "./credit-tables.ts";
import { paperAlpha, paperShift } from "../reproduce/paper.ts";
import { type DatasetName, paperDatasets } from "./paper-datasets.ts";
import type { Shortcuts } from "../../src/scheme/shortcuts.ts";
import { type GivenJob, resolveJob } from "../../src/party/resolve-job.ts";
import { type Job, secureKeyBits } from "../../src/protocol/job.ts";

export interface TrialSpec {
  readonly dataset: DatasetName;
  readonly trainRows: number;
  readonly testRows: number;
  readonly trees: number;
  readonly keyBits: number;
  readonly codec: "batched" | "unbatched";
  /** What is switched off, and how a name says so; "" for nothing. */
  readonly without: string;
  readonly shortcuts: Shortcuts;
  readonly repeats: number;
}

/** What one repeat of a trial measured. */
export interface Repeat {
  readonly totalSeconds: number;
  readonly secondsPerTree: number;
  readonly cpuSeconds: number;
  readonly metrics: { readonly train: Metrics; readonly test: Metrics };
  readonly counts: OperationCounts;
  readonly bytes: Traffic;
  /** The active party's grid: the size of a step of g and of h. */
  readonly resolutions: readonly number[];
  /** Of the model: equal digests, equal models. */
  readonly model: string;
  readonly commit: string;
}

/** A repeat, or the message of the decoder that found an overflowing sum. */
export type TrialOutcome = { readonly repeat: Repeat } | { readonly overflow: string };

/** As a file is called, and as a person would ask for it. */
export function trialName({ dataset, trainRows, keyBits, trees, codec, without }: TrialSpec): string {
  return [
    dataset,
    `${trainRows}rows`,
    `${keyBits}bit`,
    `${trees}trees`,
    codec,
    ...(without === "" ? [] : [without]),
  ].join("-");
}

export function trialTraining({ trees }: TrialSpec): TrainingParameters {
  return resolveParameters(trainingParameters, {
    num_round: trees,
    max_depth: 3,
    eta: 0.3,
    lambda: 1,
    gamma: 0,
    max_bin: 32,
  });
}

/** Batched: the paper's literal slots. Unbatched: the fine grid. */
export function trialCodec({ codec, dataset }: Pick<TrialSpec, "codec" | "dataset">): CodecParameters {
  if (codec === "unbatched") return fineGrid;
  const { alphaMax, r } = paperDatasets[dataset];
  return codecWith({
    codec,
    layout: "paper",
    shift: paperShift,
    codec_alpha: paperAlpha,
    alpha_max: alphaMax,
    r,
  });
}

export function trialJob(spec: TrialSpec): Job {
  return {
    ...resolveJob(keyOf(spec.keyBits)),
    training: trialTraining(spec),
    codec: trialCodec(spec),
    shortcuts: spec.shortcuts,
  };
}

/** A key of this length, secure or not. */
export function keyOf(bits: number): Pick<GivenJob, "keyBits" | "insecureKeyBits"> {
  return bits < secureKeyBits ? { insecureKeyBits: bits } : { keyBits: bits };
}

/**
 * The grid of the unbatched side: rounding to steps of 2^-40 leaves the model as it is, so that the comparison of
 * accuracy means something.
 */
export const fineGrid: CodecParameters = codecWith({
  codec: "unbatched",
  layout: "auto",
  resolution_bits: 40,
});

/**
 * Runs the job once. A time is worth nothing if the model is not the one that was asked for, so it is compared.
 * @param onePlace the same job's model, trained with all data in one place
 * @throws TandemError for whatever goes wrong but an overflow, which is an outcome
 */
export async function runTrial(
  spec: TrialSpec,
  rows: CutTable,
  onePlace: Model,
  commit: string,
  onEvent: (event: PartyEvent) => void,
): Promise<TrialOutcome> {
  const party = (index: number): FederationParty => ({
    name: index === 0 ? "active" : "passive",
    features: rows.train[index].featureNames,
    train: rows.trainCells[index],
    test: rows.testCells[index],
  });
  try {
    const result = await runFederation({
      active: { ...party(0), label: labelName, positive: undefined },
      passives: [party(1)],
      id: idName,
      missing: [],
      job: trialJob(spec),
      predictions: undefined,
      onEvent,
    });
    const difference = firstDifference(result.model, onePlace);
    if (difference !== null) throw new TandemError("INTERNAL", `federated and centralised model differ: ${difference}`);
    return { repeat: measured(result, commit) };
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    if (error.code === "DECODE_OVERFLOW") return { overflow: error.message };
    throw new TandemError(error.code, `${trialName(spec)}: ${error.message}`, { cause: error });
  }
}

/** The trial's model without encryption. */
export async function trialInOnePlace(spec: TrialSpec, { train }: CutTable): Promise<Model> {
  return (await trainInOnePlace({ job: trialJob(spec), train, test: null })).model;
}

function measured({ active, passives, layout, model, wallSeconds }: FederationResult, commit: string): Repeat {
  return {
    totalSeconds: wallSeconds,
    secondsPerTree: active.phasesMs.training / 1000 / active.trees,
    cpuSeconds: passives.reduce((sum, passive) => sum + passive.cpuSeconds, active.cpuSeconds),
    metrics: { train: active.metrics.train, test: active.metrics.test ?? {} },
    counts: { ...active.counts, additions: passives.reduce((sum, { counts }) => sum + counts.additions, 0) },
    bytes: active.bytes,
    resolutions: layout.slots.map((slot) => slotResolution(slot)),
    model: createHash("sha256").update(JSON.stringify(model)).digest("hex"),
    commit,
  };
}
