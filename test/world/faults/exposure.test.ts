import { expect, test } from "vitest";
import { attemptsMax, type JobExposure, shareScale } from "./exposure.ts";

const job = (calls: number, faults: number): JobExposure => ({
  join: { calls: 2, faults: 0.5 },
  stretches: [
    { calls: 1, faults: 0.1 },
    { calls, faults },
  ],
});

test("shares are as they are where rounds have the usual length, and smaller where they are longer", () => {
  expect([4, 16, 32, 160].map((calls) => shareScale(job(calls, 1)))).toEqual([1, 1, 0.5, 0.1]);
});

test("attemptsMax consecutive attempts fail once in 10^9 jobs", () => {
  for (const [faults, share] of [
    [1, 0.3],
    [2, 1],
    [3, 1.5],
  ]) {
    const chance = Math.exp(-share * (faults + 0.5));
    const tries = attemptsMax(job(16, faults), share);
    // Half of them may have found a party down.
    expect(Math.log10(1 - chance) * (tries / 2)).toBeLessThan(-9);
    expect(tries).toBeLessThan((2 * Math.log(1e9)) / chance + 1);
  }
});
