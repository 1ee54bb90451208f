/** XGBoost itself on this machine, where python3 has it: what federated training is measured against. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { TandemError } from "../../src/base/error.ts";

const run = promisify(execFile);

/** Reads a table of float32 row by row, trains, evaluates once at the end. Prints the seconds of each training. */
const script = `
import sys, time, numpy, xgboost
path, rows, columns, trees, depth, bins, repeats = sys.argv[1], *map(int, sys.argv[2:])
table = numpy.fromfile(path, dtype=numpy.float32).reshape(rows, columns)
data = xgboost.DMatrix(table[:, 1:], label=table[:, 0])
data_parameters = dict(objective="binary:logistic", tree_method="hist", max_depth=depth, max_bin=bins, nthread=2)
data_parameters.update(eval_metric="auc", verbosity=0)
for _ in range(repeats):
    began = time.perf_counter()
    model = xgboost.train(data_parameters, data, num_boost_round=trees)
    model.eval(data)
    print(time.perf_counter() - began)
`;

/** A python3 that has XGBoost, and another module where one is named: the user's, or the system's. */
export function pythonWithXgboost(also = "sys"): string | null {
  const isThere = (python: string): boolean =>
    spawnSync(python, ["-c", `import xgboost, ${also}`], { stdio: "ignore" }).status === 0;
  return ["python3", "/usr/bin/python3"].find(isThere) ?? null;
}

export interface LocalTraining {
  readonly labels: readonly number[];
  readonly columns: readonly (readonly number[])[];
  readonly trees: number;
  readonly depth: number;
  readonly bins: number;
}

/** Seconds of each training of the whole table in one place. */
export async function xgboostSeconds(python: string, job: LocalTraining, repeats: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-bench-"));
  try {
    const path = join(folder, "table");
    const rows = job.labels.length;
    const width = job.columns.length + 1;
    const table = new Float32Array(rows * width);
    for (let row = 0; row < rows; row++) {
      table[row * width] = job.labels[row];
      for (let c = 0; c < job.columns.length; c++) table[row * width + 1 + c] = job.columns[c][row];
    }
    await writeFile(path, table);
    const numbers = [rows, width, job.trees, job.depth, job.bins, repeats].map(String);
    const { stdout } = await run(python, ["-c", script, path, ...numbers]);
    return stdout.trim().split("\n").map(Number);
  } catch (cause) {
    throw new TandemError("INTERNAL", "XGBoost did not train", { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
