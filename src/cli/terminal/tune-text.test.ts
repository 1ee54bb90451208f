import { expect, test } from "vitest";
import type { TrialOutcome, TuneOutcome } from "../../gbdt/tune/outcome.ts";
import { tuneText } from "./tune-text.ts";

const trial = (number: number, mean: number): TrialOutcome => ({
  trial: number,
  parameters: { eta: 0.1 },
  rungs: 1,
  rounds: 4,
  bestRound: 3,
  score: { mean, deviation: 0.01 },
  metrics: { auc: mean },
  early: mean,
});
const outcome: TuneOutcome = {
  metric: "auc",
  isHigherBetter: true,
  folds: 3,
  schedule: [{ trials: 2, rounds: 4 }],
  searched: ["eta"],
  trials: [trial(1, 0.8), trial(0, 0.7)],
  importance: [{ parameter: "eta", share: 0.5 }],
  best: { eta: 0.1, num_round: 3 },
};

test("the result of a search lists trials, importance, and lines for the config", () => {
  const text = tuneText(outcome);
  expect(text).toMatch(/trial +auc +std/);
  expect(text).toContain("parameter importance: eta 50 %");
  expect(text).not.toContain("is the best trial");
  expect(text).toContain("    eta: 0.1\n    num_round: 3");
});

test("a baseline that wins is named, and importance needs ten trials", () => {
  const text = tuneText({ ...outcome, importance: null, trials: [trial(0, 0.8), trial(1, 0.7)] });
  expect(text).toContain("the baseline is the best trial: no other parameters were better");
  expect(text).toContain("parameter importance: not shown, as it needs at least 10 trials");
});
