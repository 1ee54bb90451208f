/** Properties that every objective must have. */
import { describe, expect, test } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { fitsObjective, metricFor } from "../metric/metrics.ts";
import { learningParameters } from "../parameters/learning-parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { baseMarginFrom, namesOf, namesTaking, objectives } from "./objectives.ts";

test("no two objectives have the same name", () => {
  expect(new Set(objectives.map(({ name }) => name)).size).toBe(objectives.length);
});

describe.each(objectives.map((objective) => [objective.name, objective] as const))("%s", (name, objective) => {
  const training = resolveParameters(trainingParameters, { objective: name });

  test("has default metrics that fit it", () => {
    for (const metric of objective.metrics) expect(fitsObjective(metricFor(metric), training), metric).toBe(true);
  });

  test("has its own defaults", () => {
    expect(training).toMatchObject(objective.defaults ?? {});
  });

  test("returns from a margin to the base_score that it came from", () => {
    const margin = baseMarginFrom(objective, 0.25);
    expect(objective.link.prediction(margin)).toBeCloseTo(0.25, 14);
    const { baseScore, rest } = objective.link.xgboostStart(margin);
    expect(baseScore).toBeCloseTo(0.25, 6);
    expect(rest).toBe(0);
  });

  test("uses parameters whose help says so", () => {
    for (const own of objective.parameters ?? []) {
      expect(trainingParameters[own].help).toMatch(/^[\w:*, ]+: /);
      expect(trainingParameters[own].help.endsWith(learningParameters[own].help)).toBe(true);
    }
  });
});

test("names are abbreviated if all of a family are meant", () => {
  expect(namesTaking("qid")).toBe("rank:*");
  expect(namesTaking("label_upper_bound")).toBe("survival:aft");
  expect(namesOf(objectives.filter(({ name }) => name.startsWith("count:")))).toEqual(["count:poisson"]);
  expect(namesOf(objectives.filter(({ kind }) => kind === "binary" || kind === "fraction"))).toEqual([
    "binary:*",
    "reg:logistic",
  ]);
});
