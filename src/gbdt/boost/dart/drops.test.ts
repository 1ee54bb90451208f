import { expect, test } from "vitest";
import { resolveParameters } from "../../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../../parameters/training-parameters.ts";
import { sampleRows } from "../row-sampling.ts";
import { seededDrops } from "./drops.ts";

const drops = (given: Partial<TrainingParameters>) =>
  seededDrops(resolveParameters(trainingParameters, { booster: "dart", ...given }));
const boostingRounds = Array.from({ length: 2000 }, (_, round) => round);
const even = [1, 1, 1, 1];

test("the same seed and round draw the same trees, another seed or round different ones", () => {
  const weights = new Array<number>(200).fill(1);
  const drawn = drops({ rate_drop: 0.5 })(3, weights);
  expect(drops({ rate_drop: 0.5 })(3, weights)).toEqual(drawn);
  expect(drops({ rate_drop: 0.5 })(4, weights)).not.toEqual(drawn);
  expect(drops({ rate_drop: 0.5, seed: 8 })(3, weights)).not.toEqual(drawn);
  expect(drawn.toSorted((a, b) => a - b)).toEqual(drawn);
});

test("nothing, everything, and nothing to drop", () => {
  for (const round of boostingRounds.slice(0, 50)) {
    expect(drops({})(round, even)).toEqual([]);
    expect(drops({ rate_drop: 1 })(round, even)).toEqual([0, 1, 2, 3]);
    expect(drops({ rate_drop: 1, skip_drop: 1, one_drop: true })(round, even)).toEqual([]);
    expect(drops({ rate_drop: 1, one_drop: true })(round, [])).toEqual([]);
    expect(drops({ one_drop: true })(round, even)).toHaveLength(1);
  }
});

test.each([
  ["uniform, a quarter", { rate_drop: 0.25 }, even, [0.25, 0.25, 0.25, 0.25]],
  ["in half of the rounds", { rate_drop: 1, skip_drop: 0.5 }, even, [0.5, 0.5, 0.5, 0.5]],
  ["one, uniform", { one_drop: true }, [3, 1, 1, 1], [0.25, 0.25, 0.25, 0.25]],
  ["by weight", { rate_drop: 0.2, sample_type: "weighted" }, [3, 0.5, 0.5, 0], [0.6, 0.1, 0.1, 0]],
  ["one, by weight", { one_drop: true, sample_type: "weighted" }, [3, 0.5, 0.5, 0], [0.75, 0.125, 0.125, 0]],
] as const)("%s: each tree with the right frequency", (_name, given, weights, wanted) => {
  const counts = [0, 0, 0, 0];
  for (const round of boostingRounds) for (const tree of drops(given)(round, weights)) counts[tree]++;
  wanted.forEach((share, tree) => {
    const deviation = Math.sqrt((share * (1 - share)) / boostingRounds.length);
    expect(Math.abs(counts[tree] / boostingRounds.length - share)).toBeLessThanOrEqual(5 * deviation);
  });
});

test("row sampling does not depend on dropout", () => {
  const gradients = { values: [new Float64Array(20), new Float64Array(20)], bounds: [null, null] };
  const given = { subsample: 0.5 };
  const plain = resolveParameters(trainingParameters, given);
  const dart = resolveParameters(trainingParameters, { ...given, booster: "dart", rate_drop: 0.5 });
  expect(sampleRows(dart, 2, gradients)).toEqual(sampleRows(plain, 2, gradients));
});
