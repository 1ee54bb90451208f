/**
 * Columns of 700 and of 2,000 categories against XGBoost itself, where it is installed. Of categories of equal weight
 * the code decides which side of a set they come to. With `bin_cuts: xgboost` codes are those of pandas; otherwise they
 * are by frequency, and XGBoost finds the same sets once it is given these.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { train } from "../src/api/gbdt.ts";
import { SeededRandom } from "../src/base/random.ts";
import { partOf } from "./support/campaign.ts";
import { askPython, pythonWithXgboost } from "./support/xgboost.ts";

const rowCount = 8000;
const trained = 6000;
const parameters = { num_round: 6, max_depth: 4, eta: 0.3, max_bin: 64 } as const;

interface CategoryTable {
  readonly numbers: Float32Array;
  readonly names: readonly string[];
  readonly labels: Float64Array;
}

/** Some categories are frequent, most are rare; neither their number nor their effect follows from their names. */
function tableOf(count: number): CategoryTable {
  const random = new SeededRandom(`codes-${count}`);
  const effects = Float64Array.from({ length: count }, () => random.normal());
  const codes = Array.from({ length: rowCount }, () => Math.min(random.below(count), random.below(count)));
  const numbers = Float32Array.from({ length: rowCount }, () => random.below(4));
  return {
    numbers,
    names: codes.map((code) => `k${[...String(code).padStart(4, "0")].toReversed().join("")}`),
    labels: Float64Array.from(codes, (code, i) => Number(effects[code] + numbers[i] / 2 + random.normal() > 0.75)),
  };
}

/** In the order of texts, or by frequency first. Categories that no trained row has come last. */
function codesOf(names: readonly string[], byFrequency: boolean): string[] {
  const counts = new Map(names.map((name) => [name, 0]));
  for (const name of names.slice(0, trained)) counts.set(name, byFrequency ? (counts.get(name) ?? 0) + 1 : 1);
  return [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || (a < b ? -1 : 1));
}

async function predicted(
  { numbers, names, labels }: CategoryTable,
  binCuts: "exact" | "xgboost",
): Promise<readonly number[]> {
  const validationRows = Array.from({ length: rowCount - trained }, (_, i) => trained + i);
  const table = { number: numbers, category: [...names], label: labels };
  const { predictions } = await train(table, {
    label: "label",
    validationRows,
    parameters: { ...parameters, bin_cuts: binCuts },
  });
  return [...predictions];
}

function predictedByXgboost({ numbers, names, labels }: CategoryTable, categories: readonly string[]): number[] {
  const { num_round: rounds, max_depth, eta, max_bin } = parameters;
  const job = {
    parameters: { max_depth, eta, max_bin, objective: "binary:logistic", base_score: 0.5 },
    rounds,
    columns: [[...numbers], names],
    labels: [...labels.subarray(0, trained)],
    categories,
  };
  const script = fileURLToPath(new URL("fixtures/xgboost/train_predictions.py", import.meta.url));
  const [predictions] = askPython(script, [job]) as number[][];
  return predictions;
}

const largestDifference = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i])));

test.skipIf(pythonWithXgboost() === undefined).each(partOf([700, 2000], 1, 2))("%i categories", async (count) => {
  const table = tableOf(count);
  const alphabetical = predictedByXgboost(table, codesOf(table.names, false));
  expect(largestDifference(await predicted(table, "xgboost"), alphabetical)).toBeLessThan(2e-6);
  // Numbers of four values have the same cuts in both cases: codes alone make the difference.
  const byCount = predictedByXgboost(table, codesOf(table.names, true));
  expect(largestDifference(await predicted(table, "exact"), byCount)).toBeLessThan(2e-6);
  expect(largestDifference(byCount, alphabetical)).toBeGreaterThan(0.01);
});
