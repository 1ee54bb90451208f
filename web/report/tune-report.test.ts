import { expect, test } from "vitest";
import { type TuneReport, tuneReport } from "./reports.js";

const trial = (number: number, eta: number, mean: number) => ({
  trial: number,
  parameters: { eta, gamma: 1 },
  rungs: 1,
  rounds: 4,
  bestRound: 3,
  score: { mean, deviation: 0.01 },
  metrics: { auc: mean },
  early: mean,
});
const report: TuneReport = {
  job: "<b>tune</b>",
  instances: 1000,
  where: "in one place",
  metric: "auc",
  isHigherBetter: true,
  folds: 3,
  schedule: [{ trials: 3, rounds: 4 }],
  searched: ["eta", "gamma"],
  trials: [trial(2, 0.1, 0.8), trial(0, 0.3, 0.7), { ...trial(1, 0.9, 0.6), early: Number.NaN }],
  importance: [
    { parameter: "eta", share: 0.5 },
    { parameter: "gamma", share: 0 },
  ],
  best: { eta: 0.1, num_round: 3 },
};

test("a report has the trials, the importance and a picture of each parameter; text from outside is text", () => {
  const page = tuneReport(report, new Date(0));
  expect(page).toContain("&lt;b>tune&lt;/b>");
  expect(page).not.toContain("<b>");
  expect(page).toContain("baseline");
  expect(page).toContain("eta: 0.1, num_round: 3");
  expect(page.match(/<svg/g)).toHaveLength(2);
  expect(page.match(/class="cell-bar"/g)).toHaveLength(2);
  // Of two parameters the ring of what was given; one trial has no score.
  expect(page.match(/<circle/g)).toHaveLength(2);
  expect(page).not.toMatch(/NaN|Infinity|<script/);
});

test("importance needs ten trials, and a baseline that wins is named", () => {
  const [best, baseline] = report.trials;
  const page = tuneReport({ ...report, importance: null, trials: [baseline, best] }, new Date(0));
  expect(page).toContain("Not shown: with so few trials");
  expect(page).not.toContain('class="cell-bar"');
  expect(page).toContain("The baseline is the best trial");
  expect(tuneReport(report, new Date(0))).not.toContain("is the best trial");
});
