import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { type BinnedFeature, binFeature } from "./binning.ts";
import { binGoesLeft, candidateIndex, candidatesOf } from "./candidate.ts";
import { areOff, type CountedNode, noMinimums, OfferedCandidates } from "./offered-candidates.ts";

const rows = 60;

function someFeatures(random: SeededRandom): BinnedFeature[] {
  const column = (missingFraction: number): Float32Array =>
    Float32Array.from({ length: rows }, () => (random.uniform() < missingFraction ? Number.NaN : random.below(7)));
  return [
    binFeature("plain", column(0), 8),
    binFeature("holes", column(0.3), 8),
    { ...binFeature("rising", column(0.3), 8), monotone: 1 },
  ];
}

const rootNode = { id: 0, members: Uint32Array.from({ length: rows }, (_, i) => i) };
const binsOf = (features: readonly BinnedFeature[]): Uint16Array[] => features.map(({ bins }) => bins);

test("a candidate's index is its index in candidatesOf", () => {
  for (const feature of someFeatures(new SeededRandom("index"))) {
    expect(candidatesOf(feature).map((candidate) => candidateIndex(feature, candidate))).toEqual(
      candidatesOf(feature).map((_, i) => i),
    );
  }
});

test("minimums of 1 are off, and suppress nothing, not even an empty side", () => {
  expect(areOff(noMinimums)).toBe(true);
  expect(areOff({ perNode: 2, perCandidate: 1 })).toBe(false);
  const features = someFeatures(new SeededRandom("off"));
  const offered = new OfferedCandidates({ perNode: 2, perCandidate: 1 }, features, binsOf(features), rootNode);
  offered.split(
    0,
    { id: 1, members: rootNode.members.subarray(0, 2) },
    { id: 2, members: rootNode.members.subarray(2) },
  );
  for (const node of [1, 2])
    expect(candidatesOf(features[0]).every((candidate) => offered.has(node, 0, candidate))).toBe(true);
  offered.split(
    1,
    { id: 3, members: rootNode.members.subarray(0, 1) },
    { id: 4, members: rootNode.members.subarray(1, 2) },
  );
  for (const node of [3, 4])
    expect(candidatesOf(features[0]).some((candidate) => offered.has(node, 0, candidate))).toBe(false);
});

test("what a small child suppresses, its large sibling and all nodes below suppress too", () => {
  // One candidate: values 0 left, 1 right, alternating.
  const feature = binFeature(
    "alternating",
    Float32Array.from({ length: rows }, (_, i) => i % 2),
    8,
  );
  const [candidate] = candidatesOf(feature);
  const offered = new OfferedCandidates({ perNode: 1, perCandidate: 3 }, [feature], [feature.bins], rootNode);
  const has = (node: number): boolean => offered.has(node, 0, candidate);
  const between = (id: number, from: number, to: number): CountedNode => ({
    id,
    members: rootNode.members.subarray(from, to),
  });
  expect(has(0)).toBe(true);
  offered.split(0, between(1, 0, 30), between(2, 30, 60));
  expect([has(1), has(2)]).toEqual([true, true]);
  offered.split(1, between(3, 0, 5), between(4, 5, 30)); // three and two
  expect([has(3), has(4)]).toEqual([false, false]);
  offered.split(4, between(5, 5, 15), between(6, 15, 30)); // large, but they add up to a suppressed node
  expect([has(5), has(6)]).toEqual([false, false]);
  offered.split(2, between(7, 30, 36), between(8, 36, 60)); // three on each side is enough
  expect([has(7), has(8)]).toEqual([true, true]);
  expect(has(2), "its children are known").toBe(false);
  expect(has(99)).toBe(false);
});

/** All sums and differences of the visible sums of one candidate in a tree. */
describe("no sum or difference of offered sums is over fewer instances than the minimum", () => {
  test.each([
    { perNode: 1, perCandidate: 3 },
    { perNode: 14, perCandidate: 1 },
    { perNode: 10, perCandidate: 2 },
  ])("%o", (minimums) => {
    let combined = 0;
    for (let seed = 0; seed < 6; seed++) {
      const random = new SeededRandom(`combine ${seed}`);
      const features = someFeatures(random);
      const offered = new OfferedCandidates(minimums, features, binsOf(features), rootNode);
      const nodes: CountedNode[] = [rootNode];
      const shown = new Map<string, CountedNode[]>();
      const look = (node: CountedNode): void =>
        features.forEach((feature, f) =>
          candidatesOf(feature).forEach((candidate, i) => {
            if (offered.has(node.id, f, candidate)) shown.set(`${f}/${i}`, [...(shown.get(`${f}/${i}`) ?? []), node]);
          }),
        );
      look(rootNode);
      for (let parent = 0; parent < 3; parent++) {
        const fraction = random.uniform();
        const goesLeft = Array.from(nodes[parent].members, () => random.uniform() < fraction);
        const child = (isLeft: boolean): CountedNode => ({
          id: 2 * parent + (isLeft ? 1 : 2),
          members: nodes[parent].members.filter((_, i) => goesLeft[i] === isLeft),
        });
        nodes.push(child(true), child(false));
        offered.split(parent, nodes[2 * parent + 1], nodes[2 * parent + 2]);
        look(nodes[2 * parent + 1]);
        look(nodes[2 * parent + 2]);
      }
      for (const [name, known] of shown) {
        const [f, i] = name.split("/").map(Number);
        for (const members of combinations(known)) {
          const left = members.filter((member) =>
            binGoesLeft(features[f], candidatesOf(features[f])[i], features[f].bins[member]),
          ).length;
          expect(members.length).toBeGreaterThanOrEqual(minimums.perNode);
          if (minimums.perCandidate > 1)
            expect(Math.min(left, members.length - left)).toBeGreaterThanOrEqual(minimums.perCandidate);
          combined++;
        }
      }
    }
    expect(combined).toBeGreaterThan(200);
  });

  /** The non-empty groups of instances whose sums follow from signed sums of nodes. */
  function* combinations(known: readonly CountedNode[]): Generator<number[]> {
    for (let code = 0; code < 3 ** known.length; code++) {
      const times = new Int8Array(rows);
      known.forEach(({ members }, k) => {
        const sign = (Math.floor(code / 3 ** k) % 3) - 1;
        for (const member of members) times[member] += sign;
      });
      if (times.every((t) => t === 0 || t === 1) && times.includes(1))
        yield Array.from(times.keys()).filter((member) => times[member] === 1);
    }
  }
});
