import { describe, expect, it } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { checkSampling, sampleRows } from "./row-sampling.ts";

const parametersOf = (given: Partial<TrainingParameters>): TrainingParameters =>
  resolveParameters(trainingParameters, given);
const g = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i * 12.9898) * (i % 10));
const gradients = { values: [g, g.map(() => 1)], bounds: [null, { min: 1, max: 1 }] };

describe("uniform sampling", () => {
  it("takes all instances by default", () => {
    expect(sampleRows(parametersOf({}), 0, gradients).sample).toBeNull();
  });

  it("draws the requested fraction, ascending, without repeats, per round and seed", () => {
    const parameters = parametersOf({ subsample: 0.3 });
    const { sample, values } = sampleRows(parameters, 0, gradients);
    expect(sample).toHaveLength(300);
    expect([...(sample ?? [])]).toEqual([...new Set(sample)].sort((a, b) => a - b));
    expect(sampleRows(parameters, 0, gradients).sample).toEqual(sample);
    expect(sampleRows(parameters, 1, gradients).sample).not.toEqual(sample);
    expect(sampleRows({ ...parameters, seed: 8 }, 0, gradients).sample).not.toEqual(sample);
    const inside = new Set(sample);
    values[1].forEach((h, i) => expect(h).toBe(inside.has(i) ? 1 : 0));
  });

  it("draws all instances equally often", () => {
    const few = { values: [g.slice(0, 10), g.slice(0, 10)], bounds: [null, null] };
    const counts = new Uint32Array(10);
    for (let round = 0; round < 2000; round++)
      for (const i of sampleRows(parametersOf({ subsample: 0.5 }), round, few).sample ?? []) counts[i]++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150); // 6 standard deviations
  });
});

describe("goss", () => {
  const parameters = parametersOf({ sampling_method: "goss", top_rate: 0.2, other_rate: 0.1 });

  it("keeps the largest gradients and weights those drawn from the rest", () => {
    const { sample, values, bounds } = sampleRows(parameters, 0, gradients);
    const bySize = [...g.keys()].sort((i, j) => Math.abs(g[j]) - Math.abs(g[i]) || i - j);
    const top = new Set(bySize.slice(0, 200));
    expect(sample).toHaveLength(300);
    expect([...top].every((i) => sample?.includes(i))).toBe(true);
    for (const i of sample ?? []) expect(values[0][i]).toBe(top.has(i) ? g[i] : g[i] * 8);
    expect(bounds).toEqual([null, { min: 8, max: 8 }]);
  });

  it("gives unbiased sums", () => {
    const smallG = g.map((x) => Math.abs(x));
    const total = smallG.reduce((a, b) => a + b, 0);
    let mean = 0;
    for (let round = 0; round < 300; round++)
      mean +=
        sampleRows(parameters, round, { values: [smallG, smallG], bounds: [null, null] }).values[0].reduce(
          (a, b) => a + b,
          0,
        ) / 300;
    expect(Math.abs(mean / total - 1)).toBeLessThan(0.01);
  });

  it("ranks by the sum over outputs", () => {
    const two = {
      values: [
        Float64Array.of(1, 0, 0.5, 0),
        Float64Array.of(1, 1, 1, 1),
        Float64Array.of(0, 0, 0.7, 0),
        Float64Array.of(1, 1, 1, 1),
      ],
      bounds: [null, null, null, null],
    };
    const { sample } = sampleRows(parametersOf({ sampling_method: "goss", top_rate: 0.25, other_rate: 0.001 }), 0, two);
    expect([...(sample ?? [])]).toEqual([2]);
  });

  it("rejects contradictory rates", () => {
    expect(() => checkSampling({ ...parameters, top_rate: 0.9, other_rate: 0.2 })).toThrow("add up");
    expect(() => checkSampling({ ...parameters, subsample: 0.5 })).toThrow("subsample");
    expect(() => checkSampling(parameters)).not.toThrow();
  });
});
