import { expect, test } from "vitest";
import { minimumsOfJob, trainingInstanceCount } from "./job-minimums.ts";
import { areOff, noMinimums } from "./offered-candidates.ts";

const none = { answer_noise: 0, min_people_share: 0 };

test("without agreed minimums, the owner's own apply", () => {
  expect(minimumsOfJob(noMinimums, none, 1000)).toEqual(noMinimums);
  expect(minimumsOfJob({ perNode: 30, perCandidate: 7 }, none, 1000)).toEqual({ perNode: 30, perCandidate: 7 });
});

test("a share of the training instances, rounded up; the owner's own wins if it is larger", () => {
  const half = { ...none, min_people_share: 0.005 };
  expect(minimumsOfJob(noMinimums, half, trainingInstanceCount(1000, 90))).toEqual({
    perNode: 1,
    perCandidate: 5,
    between: 5,
  });
  expect(minimumsOfJob({ perNode: 3, perCandidate: 50 }, half, 910)).toEqual({
    perNode: 3,
    perCandidate: 50,
    between: 5,
  });
  expect(areOff(minimumsOfJob(noMinimums, half, 100)), "one instance is no minimum").toBe(true);
});

test("with noise no side is empty or a single instance, and no two thresholds coincide", () => {
  expect(minimumsOfJob(noMinimums, { ...none, answer_noise: 1 }, 100)).toEqual({
    perNode: 1,
    perCandidate: 2,
    between: 2,
  });
  expect(minimumsOfJob({ perNode: 1, perCandidate: 6 }, { ...none, answer_noise: 1 }, 100).perCandidate).toBe(6);
});
