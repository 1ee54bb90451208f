/** The real XGBoost, where python3 has it. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

interface Installed {
  readonly python: string;
  readonly major: number;
}

/** A python3 that has XGBoost: the user's, or the system's, which Debian's python3-xgboost belongs to. */
function findInstalled(): Installed | null {
  for (const python of ["python3", "/usr/bin/python3"]) {
    const asked = spawnSync(python, ["-c", "import xgboost; print(xgboost.__version__)"], { encoding: "utf8" });
    if (asked.status === 0) return { python, major: Number(asked.stdout.split(".")[0]) };
  }
  return null;
}

/** Importing XGBoost takes Python a second: once per process of tests is enough. */
let found: Installed | null | undefined;
const installed = (): Installed | null => (found = found === undefined ? findInstalled() : found);

export function pythonWithXgboost(): string | undefined {
  return installed()?.python;
}

/** Its version's first number; 0 without one. */
export function xgboostMajor(): number {
  return installed()?.major ?? 0;
}

export interface Scored {
  readonly predictions: number[];
  readonly margins: number[];
  readonly leaves: number[][];
  readonly features: string[];
  readonly conditions: number[][];
}

export interface Scoring {
  /** The path of an exported model. */
  readonly model: string;
  /** Its features in the model's order; NaN is missing. */
  readonly columns: readonly Float32Array[];
  readonly rowCount: number;
}

/** Loads models, predicts rows with them, and says what XGBoost made of both. */
export function askXgboost(scorings: readonly Scoring[]): Scored[] {
  const jobs = scorings.map(({ model, columns, rowCount }) => ({
    model,
    rows: Array.from({ length: rowCount }, (_, row) =>
      columns.map((column) => (Number.isNaN(column[row]) ? null : column[row])),
    ),
  }));
  const script = fileURLToPath(new URL("../fixtures/xgboost-export/predict.py", import.meta.url));
  return askPython(script, jobs) as Scored[];
}

/** What a script of the fixtures prints as JSON, given JSON. Without bytecode files: it lies among the fixtures. */
export function askPython(script: string, input: object): unknown {
  const { status, stdout, stderr } = spawnSync(pythonWithXgboost() ?? "python3", ["-B", script], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 1 << 27,
    env: { ...process.env, OMP_NUM_THREADS: "1" }, // its threads wait for each other in loops, and the cores are busy
  });
  expect(stderr).not.toContain("Error");
  expect(status).toBe(0);
  return JSON.parse(stdout) as unknown;
}
