import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { drawnGroups, splitGroups } from "../../data/drawn-groups.ts";
import { BoostingMonitor } from "../boost/boosting-monitor.ts";
import { BoostingTask } from "../boost/boosting-task.ts";
import { meanAveragePrecision, ndcg, precision } from "../metric/rank-metrics.ts";
import { objectiveFor } from "./objectives.ts";
import { TrainingRows } from "../rows/training-rows.ts";
import type { RowColumns } from "../../base/rows/row-columns.ts";

const numbers = (...values: number[]): Float64Array => Float64Array.from(values);
const pairwise = resolveParameters(trainingParameters, {
  objective: "rank:pairwise",
  lambdarank_normalization: false,
});

test("pairs are formed within groups, of training rows only, with opposite gradients", () => {
  const columns = { qid: numbers(7, 3, 7, 3, 7) };
  const labels = numbers(1, 0, 0, 1, 2);
  const margins = new Float64Array(5);
  const gradients = (trainingRows: Uint32Array | null) =>
    objectiveFor("rank:pairwise").gradients(margins, labels, pairwise, { training: trainingRows, columns });
  const [g, h] = gradients(null);
  expect([...g]).toEqual([0, 0.5, 1, -0.5, -1]);
  expect([...h]).toEqual([1, 0.5, 1, 0.5, 1]);
  expect([...gradients(Uint32Array.of(0, 1, 2))[0]]).toEqual([-0.5, 0, 0.5, 0, 0]);
});

test("only the top positions are compared with all below", () => {
  const one = { ...pairwise, lambdarank_num_pair_per_sample: 1 };
  const rows = { training: null, columns: { qid: numbers(0, 0, 0) } };
  const [g] = objectiveFor("rank:pairwise").gradients(numbers(3, 2, 1), numbers(1, 2, 1), one, rows);
  expect(g[2]).toBe(0);
  expect(g[0]).toBe(-g[1]);
});

describe("metrics, on average over groups", () => {
  const rows = {
    scores: numbers(3, 2, 1, 9, 8),
    labels: numbers(0, 1, 1, 0, 0),
    groups: numbers(1, 1, 1, 2, 2),
    places: Infinity,
  };

  test("follow their definitions; a group without gain counts as perfect", () => {
    const [second, third] = [1 / Math.log2(3), 1 / Math.log2(4)];
    expect(ndcg(rows)).toBeCloseTo(((second + third) / (1 + second) + 1) / 2, 14);
    expect(meanAveragePrecision(rows)).toBeCloseTo(((1 / 2 + 2 / 3) / 2 + 1) / 2, 14);
    expect(precision({ ...rows, places: 2 })).toBeCloseTo((1 / 2 + 0) / 2, 14);
    expect(meanAveragePrecision({ ...rows, places: 1 })).toBe(0.5);
  });
});

const taskOf = (parameters: TrainingParameters, labels: Float64Array, columns: RowColumns = {}): BoostingTask =>
  new BoostingTask(parameters, new TrainingRows(labels, { columns }));

test("invalid ranking input is rejected", async () => {
  const ranking = resolveParameters(trainingParameters, { objective: "rank:ndcg" });
  const columns = { qid: numbers(0, 0) };
  expect(taskOf(ranking, numbers(0, 31), columns).rows.labels).toHaveLength(2);
  await expectError(() => taskOf(ranking, numbers(0, 1)), "USAGE", /needs a column qid/);
  const weighted = (...weights: number[]) =>
    taskOf(ranking, numbers(0, 1), { ...columns, weight: numbers(...weights) });
  expect(weighted(3, 3).rows.weights).toEqual(numbers(3, 3));
  await expectError(() => weighted(3, 4), "WEIGHT_INVALID", /^the weight of instance 1 .* instance 0 of its group/);
  for (const bad of [numbers(0, 32), numbers(0, 0.5), numbers(0, -1), numbers(2, 2), numbers(0, NaN)])
    await expectError(() => taskOf(ranking, bad, columns), "LABEL_INVALID", /label/);
  const counting = { ...ranking, eval_metric: ["map@3" as const] };
  const task = taskOf(ranking, numbers(0, 2), columns);
  await expectError(() => new BoostingMonitor(counting, task), "USAGE", /map@3 needs labels 0 and 1/);
  const linear = { ...ranking, ndcg_exp_gain: false };
  expect(taskOf(linear, numbers(0, 0.5), columns).rows.labels).toHaveLength(2);
});

test("group weights have mean 1 over the training groups, in gradients and metrics", () => {
  const ranking = resolveParameters(trainingParameters, { objective: "rank:pairwise" });
  const columns = { qid: numbers(1, 1, 2, 2, 3, 3) };
  const labels = numbers(1, 0, 0, 1, 1, 0);
  const gradients = (given: RowColumns) =>
    new BoostingTask(
      ranking,
      new TrainingRows(labels, { columns: { ...columns, ...given }, validation: Uint32Array.of(4, 5) }),
    ).gradients(new Float64Array(6)).values[0];
  const plain = gradients({});
  const weighted = gradients({ weight: numbers(1, 1, 3, 3, 100, 100) });
  expect(weighted.slice(0, 4)).toEqual(numbers(plain[0] / 2, plain[1] / 2, 1.5 * plain[2], 1.5 * plain[3]));
  const rows = { scores: numbers(2, 1, 2, 1, 2, 1), labels, groups: columns.qid, places: 1 };
  expect(precision({ ...rows, weights: null })).toBeCloseTo(2 / 3, 14);
  expect(precision({ ...rows, weights: numbers(1, 1, 3, 3, 4, 4) })).toBe(5 / 8);
});

test("whole groups are drawn", () => {
  const groups = { qid: numbers(5, 8, 5, 9, 8) };
  expect([...drawnGroups(groups, 5, () => Uint32Array.of(0, 2))]).toEqual([0, 2, 3]);
  expect([...drawnGroups({}, 5, (count) => Uint32Array.of(count - 1))]).toEqual([4]);
  const split = splitGroups(groups, 5, (count) => ({ train: Uint32Array.of(0, 1), test: Uint32Array.of(count - 1) }));
  expect([...split.train, ...split.test]).toEqual([0, 1, 2, 4, 3]);
});
