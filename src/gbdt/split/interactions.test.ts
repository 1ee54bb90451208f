import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { type Interactions, interactionsBelow, mayInteract } from "./interactions.ts";

/** XGBoost's definition (src/tree/constraints.cc): features of the path, and of groups that contain all of them. */
function allowedByXgboost(path: readonly number[], groups: readonly (readonly number[])[], count: number): number[] {
  const features = Array.from({ length: count }, (_, i) => i);
  if (path.length === 0) return features;
  const open = groups.filter((group) => path.every((feature) => group.includes(feature)));
  return features.filter((feature) => path.includes(feature) || open.some((group) => group.includes(feature)));
}

test("on every path the same features may split as in XGBoost", () => {
  const random = new SeededRandom("interactions");
  let narrowed = 0;
  for (let round = 0; round < 200; round++) {
    const count = 2 + random.below(6);
    const groups = Array.from({ length: random.below(5) }, () =>
      Array.from({ length: count }, (_, i) => i).filter(() => random.below(2) === 0),
    );
    const bits = (feature: number): number =>
      groups.reduce((sum, group, i) => sum | (group.includes(feature) ? 1 << i : 0), 0);
    const ownerOf = (feature: number): number => feature % 3;
    let state: Interactions | null = null;
    const path: number[] = [];
    for (let depth = 0; depth < 5; depth++) {
      const above: Interactions | null = state;
      const allowed = Array.from({ length: count }, (_, i) => i).filter((feature) =>
        mayInteract(above, ownerOf(feature), feature, bits(feature)),
      );
      expect(allowed, JSON.stringify({ groups, path })).toEqual(allowedByXgboost(path, groups, count));
      if (allowed.length < count) narrowed++;
      const feature = allowed[random.below(allowed.length)];
      path.push(feature);
      state = interactionsBelow(above, ownerOf(feature), feature, bits(feature));
    }
  }
  expect(narrowed).toBeGreaterThan(200);
});

test("without groups everything interacts", () => {
  expect(interactionsBelow(null, 0, 3, undefined)).toBeNull();
  expect(mayInteract(null, 1, 2)).toBe(true);
});
