import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { tuneOutcome, varianceShare } from "./outcome.ts";
import { spaceFrom, spaceFromText } from "./parse-space.ts";
import { roundsIn, searchSchedule } from "./schedule.ts";
import { defaultSpace, drawTrials } from "./search-space.ts";
import type { TrialTurns } from "./trial-turns.ts";

const given = resolveParameters(trainingParameters, { seed: 3 });

test("trials stay within the space, the first is the given one, and a seed draws the same again", () => {
  const space = defaultSpace(given);
  const trials = drawTrials(given, space, 31);
  expect(trials).toHaveLength(31);
  expect(trials[0]).toEqual(given);
  expect(drawTrials(given, space, 31)).toEqual(trials);
  expect(drawTrials({ ...given, seed: 4 }, space, 31)[1]).not.toEqual(trials[1]);
  for (const { eta, max_depth: depth, subsample, gamma, alpha } of trials.slice(1)) {
    expect(eta >= 0.03 && eta <= 0.4 && subsample >= 0.5 && subsample <= 1 && gamma >= 0 && gamma <= 3).toBe(true);
    expect([2, 3, 4, 5, 6]).toContain(depth);
    expect(alpha).toBe(given.alpha);
  }
  // A Latin hypercube: of 30 trials six have each of the five depths.
  for (const depth of [2, 3, 4, 5, 6])
    expect(trials.slice(1).filter(({ max_depth: drawn }) => drawn === depth)).toHaveLength(6);
  expect(trials.slice(1).filter(({ eta }) => eta < Math.sqrt(0.03 * 0.4))).toHaveLength(15);
  expect(Object.keys(defaultSpace({ ...given, sampling_method: "goss" }))).not.toContain("subsample");
  const leaves = { ...given, grow_policy: "lossguide", max_depth: 0, max_leaves: 8 } as const;
  expect(Object.keys(defaultSpace(leaves))).toContain("max_leaves");
});

test("dropout parameters are searched with dart only", async () => {
  const space = spaceFromText("rate_drop=0..0.5 eta=0.1..0.3");
  const trials = drawTrials({ ...given, booster: "dart" }, space, 9);
  expect(new Set(trials.map(({ rate_drop: rate }) => rate)).size).toBe(9);
  await expectError(() => drawTrials(given, space, 9), "USAGE", /has rate_drop, which belongs to booster dart/);
});

test("halving gives the better third more rounds, again and again; random search gives all trials all rounds", () => {
  expect(searchSchedule("halving", 20, 90)).toEqual([
    { trials: 20, rounds: 30 },
    { trials: 6, rounds: 52 },
    { trials: 2, rounds: 90 },
  ]);
  expect(roundsIn(searchSchedule("halving", 20, 90))).toBe(20 * 30 + 6 * 22 + 2 * 38);
  expect(searchSchedule("random", 20, 90)).toEqual([{ trials: 20, rounds: 90 }]);
  expect(searchSchedule("halving", 1, 5)).toEqual([{ trials: 1, rounds: 5 }]);
  expect(searchSchedule("halving", 27, 2)).toEqual([
    { trials: 27, rounds: 1 },
    { trials: 2, rounds: 2 },
  ]);
});

test("a space in a line and in a file; invalid ones are rejected by name", async () => {
  const space = spaceFromText("learning_rate=0.03..0.4:log, max_depth=2..6 subsample=0.6|0.8|1");
  expect(space).toEqual({
    eta: { min: 0.03, max: 0.4, log: true },
    max_depth: { min: 2, max: 6, log: false },
    subsample: { values: [0.6, 0.8, 1] },
  });
  const same = { eta: { min: 0.03, max: 0.4, log: true }, max_depth: { min: 2, max: 6 }, subsample: [0.6, 0.8, 1] };
  expect(spaceFrom(same)).toEqual(space);
  for (const [text, words] of [
    ["eta", /--search takes name=min..max/],
    ["eta=a|b", /--search takes/],
    ["eta=0..1", /wrong values for eta: it must be a number above 0 up to 1/],
    ["max_depth=2..4.5", /wrong values for max_depth/],
    ["lambda=0..10:log", /range of lambda .* above 0 if it is logarithmic/],
    ["gamma=3..1", /from a lower to a higher number/],
    ["max_bin=16..64", /max_bin cannot be searched: all trials are one job/],
    ["etta=0.1..0.2", /etta is not a parameter .* did you mean 'eta'/],
    ["", /at least one parameter/],
  ] as const)
    await expectError(() => spaceFromText(text), "USAGE", words);
  for (const wrong of [null, [1], "eta", { eta: "0.1" }, { eta: { min: 0.1 } }, { eta: { min: 0.1, max: 0.2, x: 1 } }])
    await expectError(() => spaceFrom(wrong), "USAGE");
});

test("the variance of a parameter is found, corrected for chance", () => {
  const trials = Array.from({ length: 30 }, (_, i) => ({
    parameters: { eta: i, lambda: (7 * i) % 30, gamma: 1 },
    early: i < 10 ? 0.6 : 0.7,
  }));
  expect(varianceShare(trials, "eta")).toBeCloseTo(1, 10);
  expect(varianceShare(trials, "lambda")).toBeLessThan(0.1);
  expect(varianceShare(trials, "gamma")).toBe(0);
  expect(varianceShare(trials, "alpha")).toBe(0);
});

test("trials are ranked by score, whatever their rung, and the winner's best round is recommended", () => {
  const stateOf = (trial: number, rung: number, scores: readonly number[]) => ({
    trial,
    rung,
    outcome: {
      history: scores.map((mean) => ({ test: { logloss: { mean, deviation: 0 } } })),
      rounds: scores.length,
      bestRound: scores.length - 1,
    },
  });
  // As halving ranks them: trial 1 reached the last rung, and got worse there.
  const turns = {
    metric: "logloss",
    ranking: [stateOf(1, 1, [0.5, 0.4, 0.45, 0.6]), stateOf(2, 0, [0.6, 0.3]), stateOf(0, 0, [0.5, NaN])],
  } as unknown as TrialTurns;
  const trials = [given, { ...given, eta: 0.1 }, { ...given, eta: 0.2 }];
  const schedule = [
    { trials: 3, rounds: 2 },
    { trials: 1, rounds: 4 },
  ];
  const outcome = tuneOutcome(turns, trials, spaceFromText("eta=0.1..0.3"), schedule, 3);
  expect(outcome.trials.map(({ trial, bestRound, score }) => [trial, bestRound, score.mean])).toEqual([
    [2, 2, 0.3],
    [1, 2, 0.4],
    [0, 1, 0.5],
  ]);
  expect(outcome.best).toEqual({ eta: 0.2, num_round: 2 });
});
