/** Properties that every metric must have. */
import { describe, expect, test } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { objectiveFor, objectives } from "../objective/objectives.ts";
import { outputsPerInstance } from "../objective/outputs.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { Evaluation } from "./evaluation.ts";
import { fitsObjective, metricNames, metricFor, metrics } from "./metrics.ts";

test("no two metrics have the same name", () => {
  expect(new Set(metricNames).size).toBe(metrics.length);
});

/** Rows of two groups, with labels that almost all objectives accept. */
const labels = Float64Array.of(1, 0, 1, 0, 1, 1, 0, 1);
const columns = { qid: labels.map((_, row) => row % 2), label_upper_bound: labels.map((label) => label + 1) };

function evaluationOf(training: TrainingParameters, isGood: boolean): Evaluation {
  const outputs = outputsPerInstance(training);
  const margins = Float64Array.from({ length: labels.length * outputs }, (_, place) => {
    const [row, output] = [Math.floor(place / outputs), place % outputs];
    const isLikely = outputs === 1 ? labels[row] === 1 : labels[row] === output;
    return objectiveFor(training.objective).link.margin(isLikely === isGood ? 0.9 : 0.1);
  });
  return new Evaluation(training, margins, { labels, weights: null, columns });
}

describe.each(metricNames)("%s", (name) => {
  const metric = metricFor(name);
  const fitting = objectives
    .map((objective) => resolveParameters(trainingParameters, { objective: objective.name, num_class: 2 }))
    .filter((training) => fitsObjective(metric, training));

  test("fits some objective", () => expect(fitting).not.toEqual([]));

  test("is a number, and not worse for better predictions", () => {
    for (const training of fitting) {
      if (name === "mape") continue; // divides by labels, of which some are 0
      const [good, bad] = [true, false].map((isGood) => evaluationOf(training, isGood).value(name));
      expect(Number.isFinite(good) && Number.isFinite(bad), training.objective).toBe(true);
      const gained = metric.higherIsBetter === true ? good - bad : bad - good;
      expect(gained, training.objective).toBeGreaterThanOrEqual(0);
    }
  });
});
