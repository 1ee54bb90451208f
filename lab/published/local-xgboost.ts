/** XGBoost in one place on a simulation's rows, in the parties' columns; categories have the codes of the tables. */
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { packagePath } from "../../src/base/package-root.ts";
import type { PartyTable } from "../../src/data/dataset.ts";
import { withValidation } from "../../src/simulate/comparison.ts";
import type { PreparedSimulation } from "../../src/simulate/prepare-simulation.ts";
import { pythonWithXgboost } from "../bench/local-xgboost.ts";

export interface LocalXgboost {
  readonly version: string;
  /** Of training, with the binning of the columns. */
  readonly cpu: number;
  readonly wall: number;
  readonly trees: number;
  readonly value: number;
}

/** @returns null where python3 has no XGBoost */
export async function localXgboost(
  prepared: PreparedSimulation,
  metric: string,
  trees: number,
): Promise<LocalXgboost | null> {
  const python = pythonWithXgboost();
  if (python === null) return null;
  const folder = await mkdtemp(join(tmpdir(), "tandem-published-"));
  try {
    const { tables, rows } = withValidation(prepared);
    const { training } = prepared.job;
    const { early_stopping_rounds } = training;
    await writeColumns(join(folder, "train"), tables);
    await writeColumns(join(folder, "test"), prepared.test);
    const job = {
      kinds: tables.flatMap(({ featureNames, categories = {} }) =>
        featureNames.map((name) => (Object.hasOwn(categories, name) ? "c" : "float")),
      ),
      counts: { train: rows.count, test: prepared.test[0].ids.length },
      validation: rows.validation === null ? null : [...rows.validation],
      rounds: early_stopping_rounds > 0 ? training.num_round : trees,
      early_stopping_rounds,
      parameters: {
        objective: training.objective,
        max_depth: training.max_depth,
        max_bin: training.max_bin,
        eta: training.eta,
        lambda: training.lambda,
        min_child_weight: training.min_child_weight,
        base_score: training.base_score,
        max_cat_to_onehot: training.max_cat_to_onehot,
        max_cat_threshold: training.max_cat_threshold,
        eval_metric: metric,
      },
    };
    await writeFile(join(folder, "job.json"), JSON.stringify(job));
    const script = packagePath("lab", "published", "train.py");
    const { stdout } = await promisify(execFile)(python, ["-B", script, folder]);
    return JSON.parse(stdout) as LocalXgboost;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Labels, then all parties' columns, one after another, as float32. */
function writeColumns(path: string, tables: readonly PartyTable[]): Promise<void> {
  const columns = [Float32Array.from(tables[0].labels ?? []), ...tables.flatMap(({ features }) => features)];
  const bytes = columns.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  return pipeline(Readable.from(bytes), createWriteStream(path));
}
