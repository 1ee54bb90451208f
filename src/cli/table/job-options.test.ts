import { Command } from "commander";
import { expect, test } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";

function jobOf(...args: string[]) {
  const command = addJobOptions(new Command("simulate"));
  command.parse(["--data", "a.csv", "--label", "y", "--passive", "x", ...args], { from: "user" });
  return jobFrom(command.opts<JobFlags>());
}

const metricsOf = (...args: string[]) =>
  resolveParameters(trainingParameters, jobOf(...args).job.training ?? {}).eval_metric;

test("--eval-metric given several times: all of them, in their order, the last decides", () => {
  expect(metricsOf("--eval-metric", "auc", "--eval-metric", "logloss")).toEqual(["auc", "logloss"]);
  expect(metricsOf("--eval-metric", "auc,error", "--eval-metric", "logloss")).toEqual(["auc", "error", "logloss"]);
  expect(metricsOf("--eval-metric", "auc")).toEqual(["auc"]);
  expect(metricsOf()).toEqual([]);
});

test("one that is named twice counts where it was named first, as in XGBoost", () => {
  expect(metricsOf("--eval-metric", "auc", "--eval-metric", "error", "--eval-metric", "auc")).toEqual(["auc", "error"]);
});
