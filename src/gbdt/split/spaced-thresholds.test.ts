import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { type BinnedFeature, binFeature } from "./binning.ts";
import { binGoesLeft, candidatesOf } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { isPartitioned } from "./category-candidate.ts";
import { type CountedNode, OfferedCandidates } from "./offered-candidates.ts";
import { spacedThresholds } from "./spaced-thresholds.ts";

/** A feature with this many bins; only their number matters. */
const featureOf = (binCount: number, hasMissing: boolean): BinnedFeature =>
  binFeature(
    "x",
    Float32Array.from({ length: binCount + (hasMissing ? 1 : 0) }, (_, i) => (i < binCount ? i : Number.NaN)),
    99,
  );

/** @param nodes per node the instances per bin */
const spaced = (minimum: number, hasMissing: boolean, ...nodes: number[][]): string => {
  const feature = featureOf(nodes[0].length - (hasMissing ? 1 : 0), hasMissing);
  const all = new Uint8Array(candidatesOf(feature).length).fill(1);
  return spacedThresholds(
    feature,
    minimum,
    nodes.map((counts) => Float64Array.from(counts)),
    all,
    null,
  ).join("");
};

test("from the lowest on, each far enough from the previous one and from the end", () => {
  expect(spaced(5, false, [5, 5, 5, 5])).toBe("111");
  expect(spaced(5, false, [4, 5, 5, 5])).toBe("011");
  expect(spaced(5, false, [5, 2, 3, 5])).toBe("101");
  expect(spaced(5, false, [5, 0, 9, 9]), "thresholds with no instance between them are suppressed too").toBe("101");
  expect(spaced(5, false, [9, 9, 9, 4])).toBe("110");
  expect(spaced(5, false, [5, 5, 5, 5], [9, 3, 3, 9]), "at both nodes").toBe("101");
});

test("missing values are a separate group, or all go right", () => {
  expect(spaced(5, true, [5, 5, 5, 5])).toBe("11111");
  expect(spaced(5, true, [5, 5, 5, 4]), "too few").toBe("10100");
  expect(spaced(5, true, [5, 5, 5, 4], [5, 5, 5, 9])).toBe("10100");
  expect(spaced(5, true, [5, 5, 5, 0]), "none missing: both directions have the same sum").toBe("10100");
  expect(spaced(5, true, [5, 5, 5, 0], [5, 5, 5, 9]), "none missing at one node of the pair").toBe("10100");
  expect(spaced(5, true, [5, 5, 3, 5]), "three above the last threshold without them").toBe("11001");
});

test("the same thresholds where candidates are in XGBoost's order", () => {
  const feature = { ...featureOf(3, true), missingLeftLast: true };
  const counts = [Float64Array.of(5, 5, 3, 5)];
  const kept = spacedThresholds(feature, 5, counts, new Uint8Array(5).fill(1), null);
  expect(kept.join(""), "0R and 0L, and missing values apart").toBe("10101");
});

/** At one pair of nodes, for one feature: every difference of two sums that are shown or follow from those shown. */
describe("no difference of offered sums is over few instances", () => {
  const rows = 80;
  const column = (random: SeededRandom, levels: number, missing: number): Float32Array =>
    Float32Array.from({ length: rows }, () =>
      random.uniform() < missing ? Number.NaN : Math.min(random.below(levels), random.below(levels)),
    );

  test.each([3, 6, 9])("%i", (minimum) => {
    let [compared, offeredCount] = [0, 0];
    for (let seed = 0; seed < 12; seed++) {
      const random = new SeededRandom(`pairs ${seed}`);
      const names = ["a", "b", "c", "d"];
      const features = [
        binFeature("plain", column(random, 12, 0), 16),
        binFeature("few missing", column(random, 8, 0.06), 16),
        { ...binFeature("many missing", column(random, 8, 0.4), 16), monotone: 1 },
        binCategories("one-hot", column(random, 4, 0.1), names, 9),
        binCategories("sets", column(random, 4, 0.2), names, 1),
      ];
      const rootNode: CountedNode = { id: 0, members: Uint32Array.from({ length: rows }, (_, i) => i) };
      const offered = new OfferedCandidates(
        { perNode: 1, perCandidate: minimum, between: minimum },
        features,
        features.map(({ bins }) => bins),
        rootNode,
      );
      const parts = (parent: CountedNode, first: number, fraction: number): [CountedNode, CountedNode] => {
        const goesLeft = parent.members.map(() => (random.uniform() < fraction ? 1 : 0));
        const side = (id: number, isLeft: number): CountedNode => ({
          id,
          members: parent.members.filter((_, i) => goesLeft[i] === isLeft),
        });
        return [side(first, 1), side(first + 1, 0)];
      };
      const look = (nodes: readonly CountedNode[]): void =>
        features.forEach((feature, f) => {
          const groups = shownGroups(feature, nodes, (candidate) => offered.has(nodes[0].id, f, candidate));
          offeredCount += groups.length;
          for (const a of groups)
            for (const b of groups) {
              const difference = a & ~b;
              if ((b & ~a) !== 0n || difference === 0n) continue; // not a set of instances, or empty
              expect(sizeOf(difference), `seed ${seed}, ${feature.name}`).toBeGreaterThanOrEqual(minimum);
              compared++;
            }
        });
      look([rootNode]);
      const [left, right] = parts(rootNode, 1, 0.3 + 0.4 * random.uniform());
      offered.split(0, left, right);
      look([left, right]);
      const below = parts(left, 3, 0.5);
      offered.split(1, ...below);
      look(below);
    }
    expect(offeredCount).toBeGreaterThan(100);
    expect(compared).toBeGreaterThan(1000);
  });

  /** Both sides of each offered candidate, at each node and at both together, and the nodes: as sets of instances. */
  function shownGroups(
    feature: BinnedFeature,
    nodes: readonly CountedNode[],
    isOffered: (candidate: ReturnType<typeof candidatesOf>[number]) => boolean,
  ): bigint[] {
    const setOf = (node: CountedNode, has: (bin: number) => boolean): bigint =>
      node.members.reduce((set, member) => (has(feature.bins[member]) ? set | (1n << BigInt(member)) : set), 0n);
    const shown = candidatesOf(feature).filter(isOffered);
    if (shown.length === 0) return [];
    const sides = shown.flatMap((candidate) => [
      (bin: number) => binGoesLeft(feature, candidate, bin),
      (bin: number) => !binGoesLeft(feature, candidate, bin),
    ]);
    // For category sets each category is shown, so any union of them follows.
    if (isPartitioned(feature))
      sides.push(
        ...shown.map((_, k) => (bin: number) => shown.slice(0, k + 1).some((c) => !binGoesLeft(feature, c, bin))),
      );
    const whole = (): boolean => true;
    const groups = [...sides, whole].flatMap((side) => {
      const each = nodes.map((node) => setOf(node, side));
      return [...each, each.reduce((a, b) => a | b, 0n)];
    });
    return [...new Set(groups)];
  }

  const sizeOf = (set: bigint): number => set.toString(2).replaceAll("0", "").length;
});
