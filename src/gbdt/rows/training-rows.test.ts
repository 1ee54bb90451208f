import { expect, test } from "vitest";
import { TrainingRows } from "./training-rows.ts";

const rows = new TrainingRows(Float64Array.of(5, 6, 7, 8), {
  columns: { weight: Float64Array.of(1, 2, 3, 4), qid: Float64Array.of(0, 0, 1, 1) },
  validation: Uint32Array.of(1, 2),
});

test("instances that are not held out are training rows", () => {
  expect(rows.training).toEqual(Uint32Array.of(0, 3));
  expect([rows.count, rows.trainedCount]).toEqual([4, 2]);
  const whole = rows.holdingOut(null);
  expect([whole.training, whole.trainedCount, whole.weights]).toEqual([null, 4, rows.weights]);
});

test("all columns of a selection have the same instances", () => {
  const { labels, columns, validation } = rows.select(rows.validation);
  expect(labels).toEqual(Float64Array.of(6, 7));
  expect(columns).toEqual({ weight: Float64Array.of(2, 3), qid: Float64Array.of(0, 1) });
  expect(validation).toBeNull();
  expect(rows.select(null).labels).toBe(rows.labels);
});
