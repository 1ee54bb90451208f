/** The real XGBoost, where python3 has it. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** A python3 that has XGBoost: the user's, or the system's, which Debian's python3-xgboost belongs to. */
export function pythonWithXgboost(): string | undefined {
  return ["python3", "/usr/bin/python3"].find(
    (python) => spawnSync(python, ["-c", "import xgboost"], { stdio: "ignore" }).status === 0,
  );
}

/** Its version's first number; 0 without one. */
export function xgboostMajor(): number {
  const python = pythonWithXgboost();
  if (python === undefined) return 0;
  const { stdout } = spawnSync(python, ["-c", "import xgboost; print(xgboost.__version__)"], { encoding: "utf8" });
  return Number(stdout.split(".")[0]);
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
  });
  expect(stderr).not.toContain("Error");
  expect(status).toBe(0);
  return JSON.parse(stdout) as unknown;
}
