/**
 * Columns of many values, with `bin_cuts: xgboost`: the model of XGBoost itself, where it is installed, and federated
 * training equal to central training.
 */
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { train } from "../src/api/gbdt.ts";
import { SeededRandom } from "../src/base/random.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { simulate } from "../src/api/simulate.ts";
import { askPython, pythonWithXgboost } from "./support/xgboost.ts";

const rowCount = 12_000;

/** Four columns of values that hardly ever repeat, with gaps, and labels that depend on three of them. */
function continuousTable(seed: number): { columns: Float32Array[]; labels: Float64Array } {
  const random = new SeededRandom(`cuts-${seed}`);
  const columns = Array.from({ length: 4 }, (_, feature) =>
    Float32Array.from({ length: rowCount }, () => {
      if (feature === 3 && random.uniform() < 0.1) return NaN;
      return feature === 1 ? Math.exp(2 * random.normal()) : random.normal();
    }),
  );
  const labels = Float64Array.from({ length: rowCount }, (_, i) => {
    const score = columns[0][i] - Math.log(columns[1][i]) / 2 + (columns[3][i] || 0.5) ** 2;
    return Number(score + random.normal() > 0.5);
  });
  return { columns, labels };
}

const parameters = { num_round: 12, max_depth: 5, eta: 0.3, max_bin: 48 } as const;

async function predicted(table: ReturnType<typeof continuousTable>, binCuts: "exact" | "xgboost"): Promise<number[]> {
  const { columns, labels } = table;
  const named = Object.fromEntries(columns.map((values, i) => [`f${i}`, values]));
  const result = await train(
    { ...named, label: labels },
    { label: "label", parameters: { ...parameters, bin_cuts: binCuts } },
  );
  return [...result.predictions];
}

function medianDifference(ours: readonly number[], theirs: readonly number[]): number {
  const differences = ours.map((value, i) => Math.abs(value - theirs[i])).toSorted((a, b) => a - b);
  return differences[Math.floor(differences.length / 2)];
}

interface Trained {
  readonly columns: readonly Float32Array[];
  /** Of the first rows, on which it is trained. */
  readonly labels: Float64Array;
}

/** XGBoost's predictions of all rows, of each table: starting it takes longer than training. */
function predictedByXgboost(tables: readonly Trained[]): number[][] {
  const { num_round: rounds, ...others } = parameters;
  return askPython(
    fileURLToPath(new URL("fixtures/xgboost/train_predictions.py", import.meta.url)),
    tables.map(({ columns, labels }) => ({
      parameters: { ...others, objective: "binary:logistic", base_score: 0.5 },
      rounds,
      columns: columns.map((values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value))),
      labels: [...labels],
    })),
  ) as number[][];
}

describe.skipIf(pythonWithXgboost() === undefined)("XGBoost's predictions", () => {
  const whole = continuousTable(1);
  // Nodes of few rows have many empty bins, so that several thresholds divide their rows in the same way.
  const trained = 1500;
  const withGaps = continuousTable(3);
  const gaps = new SeededRandom("gaps");
  for (const values of withGaps.columns) for (let i = 0; i < rowCount; i++) if (gaps.uniform() < 0.1) values[i] = NaN;
  let [ofWhole, ofOthers]: number[][] = [];
  beforeAll(() => {
    const { columns, labels } = withGaps;
    [ofWhole, ofOthers] = predictedByXgboost([whole, { columns, labels: labels.subarray(0, trained) }]);
  });

  test("of the rows it was trained on", async () => {
    const [sketched, exact] = [await predicted(whole, "xgboost"), await predicted(whole, "exact")];
    expect(Math.max(...sketched.map((value, i) => Math.abs(value - ofWhole[i])))).toBeLessThan(2e-6);
    expect(medianDifference(exact, ofWhole)).toBeGreaterThan(1e-3);
  });

  test("of other rows, where values miss", async () => {
    const { columns, labels } = withGaps;
    const validationRows = Array.from({ length: rowCount - trained }, (_, i) => trained + i);
    const { predictions } = await train(
      { ...Object.fromEntries(columns.map((values, i) => [`f${i}`, values])), label: labels },
      { label: "label", validationRows, parameters: { ...parameters, bin_cuts: "xgboost" } },
    );
    expect(Math.max(...ofOthers.map((value, i) => Math.abs(value - predictions[i])))).toBeLessThan(2e-6);
  });
});

test.each(["lattice", "paillier"] as const)("parties cut their own columns in this way: %s", async (scheme) => {
  const { columns, labels } = continuousTable(2);
  const numbers = Object.fromEntries(columns.map((values, i) => [`f${i}`, values.subarray(0, 2000)]));
  // The first four are more frequent: their order by frequency is not that of their texts.
  const towns = ["wien", "ulm", "rom", "oslo", "graz", "bonn", "bern"];
  const draw = new SeededRandom("towns");
  const drawn = (label: number): number => (draw.uniform() < 0.35 * label ? 4 + draw.below(3) : draw.below(4));
  const town = [...labels.subarray(0, 2000)].map((label) => towns[drawn(label)]);
  const part = { ...numbers, town };
  const { model, equalsCentralised } = await simulate(
    { ...part, label: labels.subarray(0, 2000) },
    {
      label: "label",
      active: ["f0"],
      passives: [
        ["f1", "f2"],
        ["f3", "town"],
      ],
      testFraction: 0,
      check: true,
      scheme,
      ...(scheme === "paillier" ? { insecureKeyBits: 256 } : {}),
      training: { num_round: 3, max_depth: 3, max_bin: 16, bin_cuts: "xgboost", enable_categorical: true },
    },
  );
  expect(equalsCentralised).toBe(true);
  const cutsOf = (sketched: boolean): Set<number> =>
    new Set(columns.flatMap((values) => [...binFeature("x", values.subarray(0, 2000), 16, null, sketched).thresholds]));
  const [cuts, exact] = [cutsOf(true), cutsOf(false)];
  const thresholds = numbersNamed("threshold", JSON.parse(model.toJson()));
  expect(thresholds.length).toBeGreaterThan(8);
  expect(thresholds.filter((threshold) => !cuts.has(Math.fround(threshold)))).toEqual([]);
  expect(thresholds.some((threshold) => !exact.has(Math.fround(threshold)))).toBe(true);
  expect(model.importance().map(({ feature }) => feature)).toContain("town");
});

function numbersNamed(name: string, within: unknown): number[] {
  if (typeof within !== "object" || within === null) return [];
  return Object.entries(within).flatMap(([key, value]) =>
    key === name && typeof value === "number" ? [value] : numbersNamed(name, value),
  );
}
