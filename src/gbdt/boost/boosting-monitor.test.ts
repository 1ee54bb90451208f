import { expect, test } from "vitest";
import { resolveParameters, trainingParameters } from "../../base/parameters/parameters.ts";
import { BoostingMonitor } from "./boosting-monitor.ts";
import { BoostingTask } from "./boosting-task.ts";

const labels = Float64Array.of(0, 1, 0, 1, 0, 1);
const parameters = resolveParameters(trainingParameters, {
  objective: "reg:squarederror",
  eval_metric: ["rmse"],
  early_stopping_rounds: 2,
  num_round: 9,
});
const task = new BoostingTask(parameters, labels, null, Uint32Array.of(0, 1));
/** The error of the validation rows, round by round: the third is the best. */
const margins = [0.5, 0.3, 0.1, 0.4, 0.2, 0].map((error) => labels.map((label) => label + error));

test.each([0, 1, 2, 3, 4])("goes on after %i rounds as if it had seen them itself", async (seen) => {
  let monitor = new BoostingMonitor(parameters, task);
  let rounds = 0;
  for (; !monitor.isOver; rounds++) {
    if (rounds === seen) monitor = new BoostingMonitor(parameters, task, { rounds, best: monitor.best });
    await monitor.afterRound(margins[rounds]);
  }
  expect([rounds, monitor.roundsKept, monitor.best?.round]).toEqual([5, 3, 2]);
});
