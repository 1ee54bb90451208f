import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "./binning.ts";
import { candidatesOf } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { toSplitTest } from "./split-test.ts";
import { ThresholdPlaces } from "./threshold-places.ts";
import { UsedThresholds } from "./used-thresholds.ts";

const values = Float32Array.from({ length: 60 }, (_, i) => (i % 7 === 0 ? Number.NaN : i % 10));
const number = binFeature("number", values, 16);
const codes = Float32Array.from({ length: 60 }, (_, i) => (i % 6 === 5 ? Number.NaN : i % 5));
const names = ["a", "b", "c", "d", "e"];
const oneHot = binCategories("one-hot", codes, names, 9);
const sets = binCategories("sets", codes, names, 1);

const split = (feature: typeof number, candidate: number) => ({
  featureName: feature.name,
  ...toSplitTest(feature, candidatesOf(feature)[candidate]),
});

describe("what counts as one threshold", () => {
  test("a threshold, wherever missing values go; present against missing is another", () => {
    const used = new UsedThresholds(3, [split(number, 0), split(number, 1)]);
    expect(used.free("number")).toBe(2);
    used.add(split(number, candidatesOf(number).length - 1));
    expect([used.free("number"), used.free("another")]).toEqual([1, 3]);
  });

  test("a category, or a set of them", () => {
    const used = new UsedThresholds(3, [split(oneHot, 0), split(oneHot, 1)]);
    expect(used.free("one-hot")).toBe(2);
    for (const categories of [["a"], ["a", "b"], ["a", "b"]])
      used.add({ featureName: "sets", categories, defaultLeft: true });
    expect(used.free("sets")).toBe(1);
  });

  test("a start model may have used more than the limit", () => {
    const used = new UsedThresholds(1, [split(number, 0), split(number, 2)]);
    expect(used.free("number")).toBe(0);
    expect(new ThresholdPlaces(used, [number], 0).allowed(0, 0)?.join("")).toMatch(/^11110+$/);
  });
});

test("the root takes one place and a pair two; closed nodes offer what is used, and so does all below", () => {
  const used = new UsedThresholds(3);
  const places = new ThresholdPlaces(used, [number], 0);
  const isOpen = (node: number): boolean => places.allowed(node, 0) === null;
  expect(isOpen(0)).toBe(true);
  used.add(split(number, 4)); // splits the root
  places.split(0, 1, 2);
  expect([isOpen(1), isOpen(2)]).toEqual([true, true]); // two remain, and are reserved
  places.split(1, 3, 4); // another party's split: one is released, and one is not enough for two
  expect([isOpen(2), isOpen(3), isOpen(4)]).toEqual([true, false, false]);
  expect(places.allowed(3, 0)?.reduce((a, b) => a + b)).toBe(2); // one threshold, two directions
  places.split(2, 5, 6); // two are free again
  expect([isOpen(5), isOpen(6)]).toEqual([true, true]);
  places.split(3, 7, 8);
  expect(isOpen(7), "closed stays closed").toBe(false);
});

test("closed for sets of categories, nothing is offered; one-hot, the used categories are", () => {
  const used = new UsedThresholds(1, [
    split(oneHot, 2),
    { featureName: "sets", categories: ["a", "c"], defaultLeft: true },
  ]);
  const places = new ThresholdPlaces(used, [oneHot, sets], 0);
  expect(places.allowed(0, 0)?.join("")).toBe("0011000000");
  expect(places.allowed(0, 1)?.join("")).toBe("000000");
});

test("no feature uses more than its places, for any growth of trees", () => {
  let reached = 0;
  for (let seed = 0; seed < 60; seed++) {
    const random = new SeededRandom(`trees ${seed}`);
    const limit = 1 + random.below(5);
    const used = new UsedThresholds(limit);
    const features = [number, oneHot];
    const seen = features.map(() => new Set<string>());
    for (let tree = 0; tree < 6; tree++) {
      const places = new ThresholdPlaces(used, features, 0);
      let [level, nextId] = [[0], 1];
      for (let depth = 0; depth < 5; depth++) {
        // All nodes of a level are decided at once, then their children are placed.
        const chosen = level.filter(() => random.uniform() < 0.8);
        for (const node of chosen) {
          if (random.uniform() < 0.2) continue; // another party's
          const f = random.below(2);
          const allowed = places.allowed(node, f);
          const offered = candidatesOf(features[f]).flatMap((_, i) => (allowed?.[i] === 0 ? [] : [i]));
          if (offered.length === 0) continue;
          const won = split(features[f], offered[random.below(offered.length)]);
          used.add(won);
          seen[f].add(JSON.stringify(won.threshold ?? won.categories));
        }
        level = chosen.flatMap((node) => {
          places.split(node, nextId, nextId + 1);
          nextId += 2;
          return [nextId - 2, nextId - 1];
        });
      }
    }
    for (const { size } of seen) {
      expect(size).toBeLessThanOrEqual(limit);
      if (size === limit) reached++;
    }
  }
  expect(reached, "every place can be used").toBeGreaterThan(60);
});
