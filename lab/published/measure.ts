/** Runs a published job between parties, in one place, and with XGBoost: the same rows and parameters each time. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { runFederation } from "../../src/simulate/federation.ts";
import { prepareSimulation, type PreparedSimulation } from "../../src/simulate/prepare-simulation.ts";
import { cpuSeconds } from "../bench/measure.ts";
import type { Line } from "../bench/shaped-line.ts";
import { overLine } from "../bench/wan.ts";
import { columnsOf, writeGeneratedTable } from "./generated-table.ts";
import type { PublishedJob } from "./jobs.ts";
import { type LocalXgboost, localXgboost } from "./local-xgboost.ts";

export interface PublishedOptions {
  /** Folder of the public data; undefined: there is none. */
  readonly data: string | undefined;
  /** Where generated tables are kept. */
  readonly folder: string;
  readonly seed: number;
  readonly rounds: number | undefined;
  readonly rows: number | undefined;
  readonly privacy: string | undefined;
  /** Between the parties; null: they are on one machine. */
  readonly line: Line | null;
}

export interface PublishedFigures {
  readonly rows: number;
  readonly columns: number;
  /** Of the model. */
  readonly trees: number;
  /** Of training alone, over all trees that were trained. */
  readonly wallPerTree: number;
  /** Of all parties. */
  readonly cpuPerTree: number;
  /** With starts, reading and keys. */
  readonly wall: number;
  readonly cpu: number;
  readonly peakBytes: { readonly active: number; readonly passive: number };
  readonly bytesPerTree: number;
  readonly phasesMs: Readonly<Record<string, number>>;
  readonly metric: string;
  readonly value: number;
  /** In one place, by Tandem: seconds of CPU in all, and the metric. */
  readonly onePlace: { readonly cpu: number; readonly value: number };
  /** Null: python3 has no XGBoost. */
  readonly xgboost: LocalXgboost | null;
}

export async function measurePublished(
  job: PublishedJob,
  scheme: string,
  options: PublishedOptions,
): Promise<PublishedFigures> {
  const prepared = await prepareJob(job, scheme, options);
  const [before, began] = [childCpuSeconds(), performance.now()];
  const result = await overLine(options.line, (lineTo) => runFederation({ ...prepared.federation, lineTo }));
  const [wall, cpu] = [(performance.now() - began) / 1000, childCpuSeconds() - before];
  const { active, passives } = result;
  const { metrics, trees } = active;
  const metric = Object.keys(metrics.test ?? {})[0];
  // After the best round it takes these more to stop.
  const { num_round, early_stopping_rounds } = prepared.job.training;
  const trained = early_stopping_rounds > 0 ? Math.min(num_round, trees + early_stopping_rounds) : trees;
  const beforeOne = cpuSeconds();
  const one = await trainInOnePlace(prepared);
  const cpuOfOne = cpuSeconds() - beforeOne;
  const of = (found: object | null): number => Number(Object.entries(found ?? {})[0][1]);
  return {
    rows: prepared.train[0].ids.length,
    columns: prepared.train.reduce((sum, { featureNames }) => sum + featureNames.length, 0),
    trees,
    wallPerTree: active.phasesMs.training / 1000 / trained,
    cpuPerTree: [active, ...passives].reduce((sum, party) => sum + party.cpuSeconds, 0) / trained,
    wall,
    cpu,
    peakBytes: { active: active.peakRssBytes, passive: passives[0].peakRssBytes },
    bytesPerTree: (active.bytes.activeToPassive + active.bytes.passiveToActive) / trained,
    phasesMs: active.phasesMs,
    metric,
    value: of(metrics.test),
    onePlace: { cpu: cpuOfOne, value: of(one.testMetrics) },
    xgboost: await localXgboost(prepared, metric, trees),
  };
}

async function prepareJob(
  { table, training, validationFraction, rounds }: PublishedJob,
  scheme: string,
  { data, folder, seed, rounds: given, rows, privacy }: PublishedOptions,
): Promise<PreparedSimulation> {
  const common = {
    testFraction: 0.2,
    validationFraction,
    missing: [],
    check: false,
    onEvent: () => {},
    job: {
      scheme,
      training: { ...training, seed, num_round: given ?? rounds[scheme] },
      ...(privacy === undefined ? {} : { privacy: { privacy } }),
    },
  };
  if ("file" in table) {
    if (data === undefined) throw new TandemError("USAGE", `--data: the folder with ${table.file} (docs/data.md)`);
    return prepareSimulation({ ...common, ...table, id: undefined, data: join(data, table.file) });
  }
  const shape = { ...table, rows: rows ?? table.rows };
  mkdirSync(folder, { recursive: true });
  const { active, passive, cells } = shape;
  const path = join(folder, `${shape.rows}-${active}-${passive}-${cells}-${shape.positives}-${seed}.csv`);
  if (!existsSync(path)) await writeGeneratedTable(path, shape, seed);
  const [own, other] = columnsOf(shape);
  return prepareSimulation({ ...common, data: path, id: "id", label: "label", active: own, passives: [other] });
}

/** Of all processes that this one has started and that have ended. */
function childCpuSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
