import { describe, expect, it } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { BoostingTask } from "./boosting-task.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const labels = Float64Array.of(0, 1, 1, 1);
const taskOf = (given: Record<string, unknown>, weight?: Float64Array, y = labels): BoostingTask =>
  new BoostingTask(
    resolveParameters(trainingParameters, given),
    new TrainingRows(y, { columns: weight === undefined ? {} : { weight } }),
  );

describe("weights", () => {
  it("multiply g and h, and their bounds by a power of two", () => {
    const { values, bounds } = taskOf({ scale_pos_weight: 3 }, Float64Array.of(1, 1, 0, 0.5)).gradients(
      new Float64Array(4),
    );
    expect([...values[0]]).toEqual([0.5, -1.5, -0, -0.75]);
    expect([...values[1]]).toEqual([0.25, 0.75, 0, 0.375]);
    expect(bounds).toEqual([
      { min: -4, max: 4 },
      { min: 0, max: 1 },
    ]);
    expect(taskOf({}).gradients(new Float64Array(4)).bounds).toEqual([
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ]);
  });

  it("scale_pos_weight is for classes only", () => {
    expect([
      ...taskOf({ objective: "reg:squarederror", scale_pos_weight: 3 }).gradients(new Float64Array(4)).values[0],
    ]).toEqual([0, -1, -1, -1]);
  });

  it.each([
    [1, -1, 1, 1],
    [1, NaN, 1, 1],
    [1, Infinity, 1, 1],
    [0, 0, 0, 0],
  ])("refuses %d %d %d %d without printing them", (...weights) => {
    expect(() => taskOf({}, Float64Array.from(weights))).toThrow(/^(?!.*(-1|Inf|NaN)).*weight/);
  });
});

describe("base_score", () => {
  it("auto is one Newton step from zero", () => {
    expect(taskOf({ base_score: "auto" }).baseMargin()).toBe(Math.fround(1 / 1)); // sum of g is -1, of h 1
    expect(taskOf({ base_score: "auto", objective: "reg:squarederror" }).baseMargin()).toBe(0.75);
    expect(taskOf({ base_score: "auto" }, Float64Array.of(3, 1, 1, 1)).baseMargin()).toBe(0);
  });

  it("is a prediction where it is given", () => {
    expect(taskOf({ base_score: 0.5 }).baseMargin()).toBe(0);
    expect(taskOf({ base_score: 2, objective: "count:poisson" }).baseMargin()).toBe(Math.log(2));
    expect(() => taskOf({ base_score: 0, objective: "count:poisson" }).baseMargin()).toThrow("above 0");
  });
});
