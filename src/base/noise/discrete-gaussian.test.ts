import { describe, expect, test } from "vitest";
import { discreteGaussian } from "./discrete-gaussian.ts";
import { toNoiseScale } from "./noise-scale.ts";
import { NoiseStream, noiseKey } from "./noise-stream.ts";

const secret = new Uint8Array(32).map((_, i) => i);
const streamOf = (round = 0, members = Uint32Array.of(1, 5, 9)): NoiseStream =>
  new NoiseStream(noiseKey(secret, round, members));

/** The first values of a node's first feature. */
function values(sigma: number, count: number, max = Infinity, stream = streamOf()): number[] {
  return Array.from({ length: count }, (_, candidate) => {
    stream.seek(0, candidate, 0);
    return discreteGaussian(sigma, max, stream.draw);
  });
}

/** Computed independently, with Python's HMAC and OpenSSL's AES. */
test("known answers, equal on every engine", () => {
  expect(values(3, 12)).toEqual([-2, 3, -5, -4, -4, 3, -1, -1, 2, 2, 4, 2]);
  expect(values(10 * 2 ** 24, 4)).toEqual([163616043, 30910698, -102953244, -207016333]);
  const stream = streamOf();
  stream.seek(1, 2, 3);
  expect([stream.draw(), stream.draw()]).toEqual([4522957299453260, 2117838997795680]);
});

describe("positions in the stream", () => {
  test("a value does not depend on which others are drawn, nor on their rejections", () => {
    const all = values(50, 40);
    const stream = streamOf();
    for (const candidate of [31, 2, 2, 17]) {
      stream.seek(0, candidate, 0);
      expect(discreteGaussian(50, Infinity, stream.draw)).toBe(all[candidate]);
      for (let i = 0; i < candidate; i++) stream.draw();
    }
  });

  test("numbers continue beyond one fetch, and do not repeat", () => {
    const stream = streamOf();
    stream.seek(0, 0, 0);
    const drawn = Array.from({ length: 1000 }, () => stream.draw());
    expect(new Set(drawn).size).toBe(1000);
    expect(drawn.every((value) => Number.isSafeInteger(value) && value >= 0)).toBe(true);
  });

  test.each<[string, () => NoiseStream, [number, number, number]]>([
    ["another feature", () => streamOf(), [1, 0, 0]],
    ["another candidate", () => streamOf(), [0, 1, 0]],
    ["another slot", () => streamOf(), [0, 0, 1]],
    ["another round", () => streamOf(1), [0, 0, 0]],
    ["one more member", () => streamOf(0, Uint32Array.of(1, 5, 9, 10)), [0, 0, 0]],
    ["another member", () => streamOf(0, Uint32Array.of(1, 5, 8)), [0, 0, 0]],
  ])("%s is another number", (_name, other, place) => {
    const [stream, first] = [other(), streamOf()];
    stream.seek(...place);
    first.seek(0, 0, 0);
    expect(stream.draw()).not.toBe(first.draw());
  });
});

/** The exact probabilities of -bound..bound, with the tails at both ends. */
function exactCells(sigma: number, bound: number): number[] {
  const weight = (x: number): number => Math.exp(-(x * x) / (2 * sigma * sigma));
  const far = Math.ceil(40 * sigma) + bound;
  const all = Array.from({ length: 2 * far + 1 }, (_, i) => weight(i - far));
  const total = all.reduce((a, b) => a + b, 0);
  const tail = all.slice(0, far - bound).reduce((a, b) => a + b, 0) / total;
  return [tail, ...all.slice(far - bound, far + bound + 1).map((w) => w / total), tail];
}

describe("the distribution", () => {
  test.each([
    [0.3, 1],
    [0.8, 2],
    [1, 3],
    [2.5, 6],
    [7, 15],
  ])("sigma %d: chi-squared against the exact probabilities", (sigma, bound) => {
    const count = 40_000;
    const seen = new Float64Array(2 * bound + 3);
    for (const value of values(sigma, count)) seen[Math.max(-bound - 1, Math.min(bound + 1, value)) + bound + 1]++;
    const chi = exactCells(sigma, bound).reduce((sum, p, i) => sum + (seen[i] - count * p) ** 2 / (count * p), 0);
    const freedom = 2 * bound + 2;
    // Five deviations of a chi-squared number: the draws are fixed, so this passes always or never.
    expect(chi).toBeLessThan(freedom + 5 * Math.sqrt(2 * freedom));
  });

  test.each([5, 1000, 10 * 2 ** 24, 2 ** 48])("sigma %d: mean, deviation, fourth moment", (sigma) => {
    const count = 20_000;
    const scaled = values(sigma, count).map((value) => value / sigma);
    const moment = (power: number): number => scaled.reduce((sum, value) => sum + value ** power, 0) / count;
    expect(Math.abs(moment(1))).toBeLessThan(4 / Math.sqrt(count));
    expect(Math.abs(moment(2) - 1)).toBeLessThan(4 * Math.sqrt(2 / count));
    expect(Math.abs(moment(4) - 3)).toBeLessThan(4 * Math.sqrt(96 / count));
  });

  test("nothing is beyond the cap", () => {
    const drawn = values(4, 3000, 5);
    expect(Math.max(...drawn.map(Math.abs))).toBe(5);
    expect(drawn.every(Number.isSafeInteger)).toBe(true);
  });
});

describe("the scale of a job", () => {
  const terms = { answerNoise: 10, resolutionBits: 24, maxDepth: 6, maxLeaves: 0, outputs: 1 };

  test("in units of one instance's largest gradient; larger children have one term per level", () => {
    const sigma = 10 * 2 ** 24;
    expect(toNoiseScale(terms)).toEqual({ unit: 2 ** 24, sigma, drawnMax: 16 * sigma, max: 6 * 16 * sigma });
    expect(toNoiseScale({ ...terms, maxDepth: 0, maxLeaves: 9 })?.max).toBe(9 * 16 * sigma);
    expect(toNoiseScale({ ...terms, maxDepth: 3, maxLeaves: 9 })?.max).toBe(3 * 16 * sigma);
    expect(toNoiseScale({ ...terms, outputs: 4 })?.sigma).toBe(2 * sigma);
    expect(toNoiseScale({ ...terms, answerNoise: 0 })).toBeNull();
  });

  test("the paper's layout and noise beyond a double are rejected; the proposed value works", () => {
    expect(() => toNoiseScale({ ...terms, resolutionBits: 0 })).toThrow(/answer_noise needs layout auto/);
    expect(() => toNoiseScale({ ...terms, resolutionBits: 44 })).toThrow(/Use --resolution-bits 43 or less/);
    expect(toNoiseScale({ ...terms, resolutionBits: 43 })).not.toBeNull();
  });
});
