import { describe, expect, test } from "vitest";
import { noiseScaleOf } from "../../base/noise-scale.ts";
import { highLimb, slotSum } from "../../base/quantised-gradients.ts";
import { binFeature } from "./binning.ts";
import { candidateCount } from "./candidate.ts";
import { addNoise, minimumsWithNoise, TreeNoise } from "./tree-noise.ts";

const rows = 60;
const features = [3, 7].map((step) =>
  binFeature(
    `f${step}`,
    Float32Array.from({ length: rows }, (_, i) => (i * step) % 11),
    8,
  ),
);
const scale = noiseScaleOf({ answerNoise: 5, resolutionBits: 10, maxDepth: 4, maxLeaves: 0 });
if (scale === null) throw new Error("there is noise");
const party = { secret: new Uint8Array(32).fill(3), scale, slotCount: 2 };
const everybody = Uint32Array.from({ length: rows }, (_, i) => i);
const node = (id: number, has: (i: number) => boolean) => ({ id, members: everybody.filter(has) });
const root = node(0, () => true);
const rest = (a: Float64Array, b: Float64Array): number[] => Array.from(a, (value, i) => value - b[i]);
const small = (i: number): boolean => i % 3 === 0;

function split(noise = new TreeNoise(party, features, 0, root)): TreeNoise {
  noise.split(
    0,
    node(1, (i) => !small(i)),
    node(2, small),
  );
  return noise;
}

describe("noise adds up", () => {
  test("the smaller child's is drawn, and the larger child's is the rest, at every level", () => {
    const noise = split();
    const [whole, larger, smaller] = [0, 1, 2].map((id) => noise.of(id, 0));
    expect(whole).toHaveLength(2 * candidateCount(features[0]));
    expect([...larger]).toEqual(rest(whole, smaller));
    const alone = new TreeNoise(
      party,
      features,
      0,
      node(9, (i) => small(i)),
    );
    expect(alone.of(9, 0)).toEqual(smaller); // a function of who is in it
    noise.split(
      1,
      node(3, (i) => !small(i) && i < 20),
      node(4, (i) => !small(i) && i >= 20),
    );
    expect([...noise.of(4, 1)]).toEqual(rest(noise.of(1, 1), noise.of(3, 1)));
    expect(noise.of(4, 0).some((value) => value !== 0)).toBe(true);
  });

  test("on a tie the lower id is drawn, in whichever order they are told", () => {
    const halves = [node(1, (i) => i % 2 === 0), node(2, (i) => i % 2 === 1)];
    const [told, turned] = [0, 1].map(() => new TreeNoise(party, features, 0, root));
    told.split(0, halves[0], halves[1]);
    turned.split(0, halves[1], halves[0]);
    expect(told.of(1, 0)).toEqual(turned.of(1, 0));
    expect(told.of(1, 0)).toEqual(new TreeNoise(party, features, 0, { ...halves[0], id: 7 }).of(7, 0));
  });

  test("asking a hundred times gives the same, in any order of features; other rounds and secrets do not", () => {
    const first = split().of(1, 1);
    for (let i = 0; i < 100; i++) {
      const again = split();
      if (i % 2 === 0) again.of(2, 0);
      expect(again.of(1, 1)).toEqual(first);
    }
    expect(split(new TreeNoise(party, features, 1, root)).of(1, 1)).not.toEqual(first);
    const other = { ...party, secret: new Uint8Array(32).fill(4) };
    expect(split(new TreeNoise(other, features, 0, root)).of(1, 1)).not.toEqual(first);
  });
});

test("noise of one limb and of two is the same sum, whatever the sign", () => {
  const noise = Float64Array.of(5, -7, 3 * highLimb + 1, -highLimb - 2);
  const narrow = Float64Array.of(1, 2, 9, 3, 4, 9);
  const wide = Float64Array.of(0, 1, 0, 2, 9, 0, 3, 0, 4, 9);
  addNoise(narrow, 3, noise, -1);
  addNoise(wide, 5, noise, -1);
  expect([...narrow]).toEqual([-4, 9, 9, 3 - 3 * highLimb - 1, 4 + highLimb + 2, 9]);
  for (const row of [0, 1])
    for (const slot of [0, 1]) expect(slotSum(wide, 5 * row, slot, 2)).toBe(slotSum(narrow, 3 * row, slot, 1));
});

test("with noise an empty side is never offered; an owner's own minimums stay", () => {
  const minimums = { perNode: 3, perCandidate: 1 };
  expect(minimumsWithNoise(minimums, false)).toBe(minimums);
  expect(minimumsWithNoise(minimums, true)).toEqual({ perNode: 3, perCandidate: 2 });
  expect(minimumsWithNoise({ perNode: 3, perCandidate: 8 }, true).perCandidate).toBe(8);
});
