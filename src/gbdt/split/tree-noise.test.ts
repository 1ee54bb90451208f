import { describe, expect, test } from "vitest";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import { highLimb, slotSum } from "../../base/gradients/quantised-gradients.ts";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "./binning.ts";
import { binGoesLeft, candidateCount, candidatesOf } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { minimumsOfJob } from "./job-minimums.ts";
import { noMinimums, OfferedCandidates } from "./offered-candidates.ts";
import { addNoise, minimumsWithNoise, TreeNoise } from "./tree-noise.ts";

const rows = 60;
const features = [3, 7].map((step) =>
  binFeature(
    `f${step}`,
    Float32Array.from({ length: rows }, (_, i) => (i * step) % 11),
    8,
  ),
);
const scale = toNoiseScale({ answerNoise: 5, resolutionBits: 10, maxDepth: 4, maxLeaves: 0, outputs: 1 });
if (scale === null) throw new Error("the job has no noise");
const party = { secret: new Uint8Array(32).fill(3), scale, slotCount: 2 };
const allInstances = Uint32Array.from({ length: rows }, (_, i) => i);
const node = (id: number, has: (i: number) => boolean) => ({ id, members: allInstances.filter(has) });
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
  test("the smaller child's is drawn, and the larger child's is the difference, at every level", () => {
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
    expect(alone.of(9, 0)).toEqual(smaller); // a function of the members
    noise.split(
      1,
      node(3, (i) => !small(i) && i < 20),
      node(4, (i) => !small(i) && i >= 20),
    );
    expect([...noise.of(4, 1)]).toEqual(rest(noise.of(1, 1), noise.of(3, 1)));
    expect(noise.of(4, 0).some((value) => value !== 0)).toBe(true);
  });

  test("on a tie the lower id is drawn, in any order of registration", () => {
    const halves = [node(1, (i) => i % 2 === 0), node(2, (i) => i % 2 === 1)];
    const [straight, turned] = [0, 1].map(() => new TreeNoise(party, features, 0, root));
    straight.split(0, halves[0], halves[1]);
    turned.split(0, halves[1], halves[0]);
    expect(straight.of(1, 0)).toEqual(turned.of(1, 0));
    expect(straight.of(1, 0)).toEqual(new TreeNoise(party, features, 0, { ...halves[0], id: 7 }).of(7, 0));
  });

  test("repeated calls give the same noise, in any order of features; other rounds and secrets do not", () => {
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

describe("one sum has one draw of noise", () => {
  const column = (value: (i: number) => number): Float32Array =>
    Float32Array.from({ length: rows }, (_, i) => (i % 5 === 0 ? Number.NaN : value(i)));
  const coded = (levels: number): Float32Array => column((i) => i % levels);

  test.each([
    [
      "two categories",
      binCategories(
        "c",
        coded(2).map((code) => code || 0),
        ["a", "b"],
        9,
      ),
    ],
    ["two categories and missing values", binCategories("c", coded(2), ["a", "b"], 9)],
    [
      "two categories, as sets",
      binCategories(
        "c",
        coded(2).map((code) => code || 0),
        ["a", "b"],
        1,
      ),
    ],
    ["a monotone column with missing values", { ...binFeature("m", coded(7), 8), monotone: 1 }],
  ])("%s: candidates with the same partition differ in the sign only", (_, feature) => {
    const noise = new TreeNoise(party, [feature], 0, root).of(0, 0);
    const candidates = candidatesOf(feature);
    const lefts = candidates.map((candidate) =>
      feature.bins.map((bin) => (binGoesLeft(feature, candidate, bin) ? 1 : 0)),
    );
    let pairs = 0;
    for (let a = 0; a < lefts.length; a++)
      for (let b = 0; b < a; b++) {
        const signs = ([1, -1] as const).filter((sign) =>
          lefts[a].every((isLeft, i) => isLeft === (sign === 1 ? lefts[b][i] : 1 - lefts[b][i])),
        );
        for (const sign of signs) {
          pairs++;
          expect(noise[2 * a]).toBe(sign * noise[2 * b]);
          expect(noise[2 * a + 1]).toBe(sign * noise[2 * b + 1]);
        }
      }
    expect(pairs).toBeGreaterThan(0);
  });

  /** Equal sums at a node, of candidates of one feature, that are offered there with different noise. */
  test.each([0, 0.05])("no two offered candidates have the same instances at a node, min_people_share %d", (share) => {
    const random = new SeededRandom("averaging");
    const sparse = [
      binFeature(
        "missing",
        column(() => random.below(9)),
        16,
      ),
      {
        ...binFeature(
          "monotone",
          column(() => random.below(9)),
          16,
        ),
        monotone: -1,
      },
      binFeature(
        "plain",
        Float32Array.from({ length: rows }, () => random.below(40)),
        64,
      ),
      binCategories(
        "one-hot",
        column(() => random.below(4)),
        ["a", "b", "c", "d"],
        9,
      ),
      binCategories(
        "sets",
        column(() => random.below(4)),
        ["a", "b", "c", "d"],
        1,
      ),
    ];
    const minimums = minimumsOfJob(noMinimums, { answer_noise: 5, min_people_share: share }, rows);
    const offered = new OfferedCandidates(
      minimums,
      sparse,
      sparse.map(({ bins }) => bins),
      root,
    );
    const noise = new TreeNoise(party, sparse, 0, root);
    // No value is missing in node 2.
    const children = [node(1, (i) => i % 5 === 0 || i < 20), node(2, (i) => i % 5 !== 0 && i >= 20)] as const;
    let offeredCount = 0;
    const look = (nodes: readonly { id: number; members: Uint32Array }[]): void =>
      sparse.forEach((feature, f) => {
        const shown = candidatesOf(feature).flatMap((candidate, i) =>
          offered.has(nodes[0].id, f, candidate) ? [i] : [],
        );
        offeredCount += shown.length;
        for (const { id, members } of nodes) {
          const draws = new Map<string, number>();
          for (const i of shown) {
            const lefts = Array.from(members, (m) =>
              binGoesLeft(feature, candidatesOf(feature)[i], feature.bins[m]) ? 1 : 0,
            );
            const sign = lefts[0] === 1 ? 1 : -1;
            const people = lefts.map((isLeft) => (isLeft === lefts[0] ? 1 : 0)).join("");
            const drawn = sign * noise.of(id, f)[2 * i];
            expect(draws.get(people) ?? drawn, `${feature.name} at node ${id}`).toBe(drawn);
            draws.set(people, drawn);
          }
        }
      });
    look([root]);
    offered.split(0, ...children);
    noise.split(0, ...children);
    look(children);
    expect(offeredCount).toBeGreaterThan(30);
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
  expect(minimumsWithNoise(minimums, true)).toEqual({ perNode: 3, perCandidate: 2, between: 2 });
  expect(minimumsWithNoise({ perNode: 3, perCandidate: 8 }, true).perCandidate).toBe(8);
});
