import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { auc, ks } from "./auc-metrics.ts";
import { scoreCurves } from "./score-curves.ts";

const random = new SeededRandom("curves");
const labels = Float64Array.from({ length: 5000 }, () => (random.uniform() < 0.3 ? 1 : 0));
const scores = labels.map((label) => 1 / (1 + Math.exp(-label - random.normal())));
const curves = scoreCurves(scores, labels);

test("curves have at most a hundred points, begin and end in the corners, and are monotone", () => {
  const roc = curves?.roc ?? [];
  expect(roc.length).toBeLessThanOrEqual(100);
  expect(roc.length).toBeGreaterThan(50);
  expect([roc[0], roc[roc.length - 1]]).toEqual([
    [0, 0],
    [1, 1],
  ]);
  for (let i = 1; i < roc.length; i++) {
    expect(roc[i][0]).toBeGreaterThanOrEqual(roc[i - 1][0]);
    expect(roc[i][1]).toBeGreaterThanOrEqual(roc[i - 1][1]);
  }
});

test("the area under the drawn curve and its KS are the metrics", () => {
  const roc = curves?.roc ?? [];
  let area = 0;
  for (let i = 1; i < roc.length; i++) area += ((roc[i][0] - roc[i - 1][0]) * (roc[i][1] + roc[i - 1][1])) / 2;
  expect(area).toBeCloseTo(auc(scores, labels), 2);
  expect(curves?.ksAt.ks).toBe(ks(scores, labels));
});

test("the histogram counts every instance once", () => {
  const { positives = [], negatives = [] } = curves?.histogram ?? {};
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  expect(sum(positives)).toBe(labels.reduce((a, b) => a + b, 0));
  expect(sum(negatives) + sum(positives)).toBe(labels.length);
});

test("one class has no curve, equal scores give one step", () => {
  expect(scoreCurves(Float64Array.of(1, 2), Float64Array.of(1, 1))).toBeNull();
  const flat = scoreCurves(Float64Array.of(5, 5), Float64Array.of(0, 1));
  expect(flat?.roc).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(flat?.histogram.positives.reduce((a, b) => a + b, 0)).toBe(1);
});
