import { describe, expect, it } from "vitest";
import { poissonNloglik } from "./likelihood-metrics.ts";
import { error, logloss, mae, rmse, rmsle } from "./elementwise-metrics.ts";
import { logGamma } from "./likelihood-metrics.ts";

describe("metrics of single predictions", () => {
  it("follow their definitions", () => {
    expect(logloss([0.8, 0.3], [1, 0])).toBeCloseTo(-(Math.log(0.8) + Math.log(0.7)) / 2, 14);
    expect(rmse([1, 5], [2, 2])).toBeCloseTo(Math.sqrt(5), 14);
    expect(rmsle([Math.E - 1, 5], [0, 5])).toBeCloseTo(Math.sqrt(1 / 2), 14);
    expect(rmsle([-2, 5], [0, 5]), "no logarithm").toBe(NaN);
    expect(mae([1, 5], [2, 2])).toBe(2);
    expect(error([0.8, 0.5, 0.6], [1, 1, 0])).toBeCloseTo(2 / 3, 14);
    expect(poissonNloglik([2], [3])).toBeCloseTo(Math.log(6) + 2 - 3 * Math.log(2), 13);
    expect(rmse([1, 5], [2, 2], [3, 1])).toBeCloseTo(Math.sqrt((3 + 9) / 4), 14);
  });

  it("survive a certain mistake", () => {
    expect(logloss([0], [1])).toBeCloseTo(-Math.log(1e-16), 10);
    expect(logloss([1], [0])).toBeCloseTo(-Math.log(1e-16), 10);
    expect(logloss([1], [1])).toBeCloseTo(0, 14);
  });

  it("refuse different lengths", () => {
    expect(() => rmse([1], [1, 2])).toThrow("length");
  });
});

it("logGamma is the logarithm of the factorial", () => {
  let factorial = 0;
  for (let n = 1; n < 200; n++) {
    factorial += Math.log(n);
    expect(logGamma(n + 1)).toBeCloseTo(factorial, 10);
  }
  expect(logGamma(1.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI) / 2), 13);
});
