import { expect, test } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { BoostingMonitor } from "./boosting-monitor.ts";
import { BoostingTask } from "./boosting-task.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const labels = Float64Array.of(0, 1, 0, 1, 0, 1);
const parameters = resolveParameters(trainingParameters, {
  objective: "reg:squarederror",
  eval_metric: ["rmse"],
  early_stopping_rounds: 2,
  num_round: 9,
});
const task = new BoostingTask(parameters, new TrainingRows(labels, { validation: Uint32Array.of(0, 1) }));
/** The error of the validation rows, round by round: the third is the best. */
const margins = [0.5, 0.3, 0.1, 0.4, 0.2, 0].map((error) => labels.map((label) => label + error));

test.each([0, 1, 2, 3, 4])("resumes after %i rounds as if it had seen them itself", async (seen) => {
  let monitor = new BoostingMonitor(parameters, task);
  let rounds = 0;
  for (; !monitor.isOver; rounds++) {
    if (rounds === seen) monitor = new BoostingMonitor(parameters, task, { rounds, best: monitor.best });
    await monitor.afterRound(margins[rounds]);
  }
  expect([rounds, monitor.roundsKept, monitor.best?.round]).toEqual([5, 3, 2]);
  // The reported metrics are those of the kept round, on both kinds of rows.
  const { train, validation } = monitor.metricsKept ?? {};
  expect([train?.["rmse"], validation?.["rmse"]]).toEqual([expect.closeTo(0.1), expect.closeTo(0.1)]);
});

test("without early stopping, or where the last round is best, the last round's metrics are the model's", async () => {
  const patient = { ...parameters, early_stopping_rounds: 0 };
  const all = new BoostingMonitor(patient, task);
  for (const round of margins) await all.afterRound(round);
  expect([all.roundsKept, all.metricsKept]).toEqual([6, null]);
  const rising = new BoostingMonitor(parameters, task);
  for (const round of margins.slice(0, 3)) await rising.afterRound(round);
  expect([rising.roundsKept, rising.metricsKept]).toEqual([3, null]);
});
