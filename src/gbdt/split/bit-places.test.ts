import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { rowNumbers } from "../../base/rows/row-numbers.ts";
import { binFeature } from "./binning.ts";
import { BitPlaces } from "./bit-places.ts";
import { candidatesOf } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { toSplitTest } from "./split-test.ts";
import { CountedColumns, RevealedPieces } from "./revealed-pieces.ts";
import { BitBudget } from "./revealed-splits.ts";

const count = 300;
const source = new SeededRandom("bit places");
const values = Float32Array.from({ length: count }, () => (source.below(9) === 0 ? Number.NaN : source.below(16)));
const codes = Float32Array.from({ length: count }, () => (source.below(8) === 0 ? Number.NaN : source.below(6)));
const names = ["a", "b", "c", "d", "e", "f"];
const number = binFeature("number", values, 16);
const oneHot = binCategories("one-hot", codes, names, 9);
const sets = binCategories("sets", codes, names, 1);
const features = [number, oneHot, sets];
const columns = new CountedColumns(features, rowNumbers(count));

const budgetOf = (bits: number): BitBudget => new BitBudget(bits, new RevealedPieces(columns));

test("the root offers what fits into all that is left; children have half of it each", () => {
  const budget = budgetOf(1.2);
  const places = new BitPlaces(budget, features, 0);
  expect(places.allowed(0, 0)).not.toContain(0);
  places.split(0, 1, 2);
  for (const node of [1, 2]) {
    const costs = budget.pieces.costs(0);
    expect(places.allowed(node, 0)).toEqual(Uint8Array.from(costs, (cost) => (cost <= 0.6 ? 1 : 0)));
    expect(places.pieces(node, 2), "a set may cost a bit").not.toBeNull();
  }
});

test("with nothing left, used thresholds and unions of pieces remain", () => {
  const budget = budgetOf(0.5);
  const [used] = candidatesOf(number).slice(6);
  budget.pieces.add({ featureName: "number", ...toSplitTest(number, used) });
  budget.pieces.add({ featureName: "sets", categories: ["a", "b"], defaultLeft: true });
  expect(budget.free).toBe(0);
  const places = new BitPlaces(budget, features, 0);
  expect(places.allowed(0, 0)?.[6]).toBe(1);
  expect(places.allowed(0, 0)?.reduce((a, b) => a + b)).toBe(1);
  expect(new Set(places.pieces(0, 2))).toEqual(new Set([0, 1]));
});

test("no job reveals more than its budget, for any growth of trees, and most of it can be used", () => {
  let revealed = 0;
  let allowed = 0;
  for (let seed = 0; seed < 25; seed++) {
    const random = new SeededRandom(`growth ${seed}`);
    const bits = 0.4 + 3 * random.uniform();
    const budget = budgetOf(bits);
    for (let tree = 0; tree < 6; tree++) {
      const places = new BitPlaces(budget, features, 0);
      let [level, nextId] = [[0], 1];
      for (let depth = 0; depth < 4; depth++) {
        // All nodes of a level are decided at once, then their children are placed.
        const chosen = level.filter(() => random.uniform() < 0.8);
        for (const node of chosen) {
          if (random.uniform() < 0.2) continue; // another party's
          const index = random.below(3);
          const won = index === 2 ? drawnSet(places.pieces(node, 2), random) : drawnTest(places, node, index, random);
          if (won !== null) budget.pieces.add({ featureName: features[index].name, ...won });
        }
        level = chosen.flatMap((node) => {
          places.split(node, nextId, nextId + 1);
          nextId += 2;
          return [nextId - 2, nextId - 1];
        });
      }
      expect(budget.isExceeded).toBe(false);
      expect(budget.pieces.bits).toBeLessThanOrEqual(bits + 1e-4);
    }
    revealed += budget.pieces.bits;
    allowed += bits;
  }
  expect(revealed / allowed).toBeGreaterThan(0.8);
});

function drawnTest(places: BitPlaces, node: number, index: number, random: SeededRandom) {
  const allowed = places.allowed(node, index);
  const offered = candidatesOf(features[index]).filter((_, i) => allowed?.[i] !== 0);
  return offered.length === 0 ? null : toSplitTest(features[index], offered[random.below(offered.length)]);
}

/** A union of pieces, or any set where these are null. */
function drawnSet(pieces: Uint32Array | null, random: SeededRandom) {
  const labels = pieces ?? Uint32Array.from({ length: 7 }, (_, bin) => bin);
  const right = new Set(labels.filter(() => random.uniform() < 0.5));
  const categories = (sets.categories ?? []).filter((_, bin) => right.has(labels[bin]));
  return categories.length === 0 ? null : { categories, defaultLeft: !right.has(labels[sets.binCount]) };
}
