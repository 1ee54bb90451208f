import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { binCategories } from "./category-binning.ts";
import { totalBinCount } from "./binning.ts";
import { candidatesOf } from "./candidate.ts";
import { rightBins } from "./category-candidate.ts";
import { type CountedNode, OfferedCandidates } from "./offered-candidates.ts";
import { offeredCategories } from "./offered-categories.ts";

const offered = (minimum: number, ...counts: number[][]): string =>
  offeredCategories({ perNode: 1, perCandidate: minimum }, counts, null).join("");

test("a category is shown if it and the suppressed rest satisfy the minimum", () => {
  expect(offered(5, [9, 8, 7])).toBe("111");
  expect(offered(5, [9, 8, 3, 4])).toBe("1100"); // the rest has seven
  expect(offered(5, [9, 8, 7, 3])).toBe("1100"); // three alone would follow by subtraction, so seven more join them
  expect(offered(5, [9, 0])).toBe("00");
  expect(offered(5, [9, 8, 0])).toBe("100");
  expect(offered(1, [9, 0, 1])).toBe("111");
  expect(offered(5, [9, 8, 7], [9, 8, 4])).toBe("100"); // four at the sibling, so eight more join them there
});

test("suppressed categories stay suppressed; small nodes show nothing", () => {
  const minimums = { perNode: 10, perCandidate: 3 };
  expect(
    offeredCategories(
      minimums,
      [
        [5, 5, 5],
        [6, 6, 6],
      ],
      Uint8Array.of(1, 0, 1),
    ).join(""),
  ).toBe("101");
  expect(
    offeredCategories(
      minimums,
      [
        [3, 3, 3],
        [6, 6, 6],
      ],
      null,
    ).join(""),
  ).toBe("000");
});

const rows = 60;
const categoryCount = 3;

/**
 * Everything that can be added and subtracted from the visible sums of one tree: of the groups of instances that
 * consist of whole cells (category, leaf), those in the span of the visible ones.
 */
test.each([
  { minimum: 3, oneHot: false },
  { minimum: 5, oneHot: false },
  { minimum: 4, oneHot: true },
])(
  "no group below $minimum instances follows from the shown sums, except whole nodes; one-hot: $oneHot",
  ({ minimum, oneHot }) => {
    let made = 0;
    for (let seed = 0; seed < 8; seed++) {
      const random = new SeededRandom(`span ${seed}`);
      const codes = Float32Array.from({ length: rows }, () =>
        random.uniform() < 0.1 ? NaN : Math.min(random.below(categoryCount), random.below(categoryCount)),
      );
      const feature = binCategories("kind", codes, ["a", "b", "c"], oneHot ? 9 : 1);
      const rootNode: CountedNode = { id: 0, members: Uint32Array.from({ length: rows }, (_, i) => i) };
      const tree = new OfferedCandidates({ perNode: 1, perCandidate: minimum }, [feature], [feature.bins], rootNode);
      const nodes = [rootNode];
      const places = Array.from({ length: totalBinCount(feature) }, (_, bin) => bin);
      const candidates = candidatesOf(feature);
      const shown: { readonly node: number; readonly bins: readonly number[] }[] = [];
      const look = (node: number): void => {
        for (const candidate of candidates)
          if ("categories" in candidate && tree.has(node, 0, candidate))
            shown.push({ node, bins: rightBins(feature, candidate) });
        shown.push({ node, bins: places });
      };
      look(0);
      for (const parent of [0, 1]) {
        const fraction = 0.2 + 0.6 * random.uniform();
        const goesLeft = nodes[parent].members.map(() => (random.uniform() < fraction ? 1 : 0));
        for (const side of [1, 0])
          nodes.push({ id: nodes.length, members: nodes[parent].members.filter((_, i) => goesLeft[i] === side) });
        tree.split(parent, nodes[nodes.length - 2], nodes[nodes.length - 1]);
        look(nodes.length - 2);
        look(nodes.length - 1);
      }
      const leavesOf = [[2, 3, 4], [3, 4], [2], [3], [4]];
      const cell = (leaf: number, bin: number): number => (leaf - 2) * places.length + bin;
      const cellCount = 3 * places.length;
      const people = new Float64Array(cellCount);
      for (const leaf of [2, 3, 4])
        for (const member of nodes[leaf].members) people[cell(leaf, feature.bins[member])]++;
      const basis = reduced(
        shown.map(({ node, bins }) => {
          const row = new Float64Array(cellCount);
          for (const leaf of leavesOf[node]) for (const bin of bins) row[cell(leaf, bin)] = 1;
          return row;
        }),
      );
      for (let group = 1; group < 2 ** cellCount; group += 1) {
        const row = Float64Array.from({ length: cellCount }, (_, i) => (group >> i) % 2);
        const isWholeNodes = [0, 1, 2].every(
          (leaf) => new Set(row.subarray(leaf * places.length, (leaf + 1) * places.length)).size === 1,
        );
        if (isWholeNodes || !spans(basis, row)) continue;
        const count = row.reduce((sum, isIn, i) => sum + isIn * people[i], 0);
        if (count > 0) expect(count, `seed ${seed}, cells ${row.join("")}`).toBeGreaterThanOrEqual(minimum);
        made++;
      }
    }
    expect(made).toBeGreaterThan(100);
  },
);

/** Gauss-Jordan: rows with a pivot of 1 each. */
function reduced(rowsGiven: readonly Float64Array[]): { readonly row: Float64Array; readonly pivot: number }[] {
  const basis: { row: Float64Array; pivot: number }[] = [];
  for (const given of rowsGiven) {
    const row = without(basis, given);
    const pivot = row.findIndex((value) => Math.abs(value) > 1e-9);
    if (pivot === -1) continue;
    const scaled = row.map((value) => value / row[pivot]);
    for (const other of basis) other.row = other.row.map((value, i) => value - other.row[pivot] * scaled[i]);
    basis.push({ row: scaled, pivot });
  }
  return basis;
}

function without(
  basis: readonly { readonly row: Float64Array; readonly pivot: number }[],
  given: Float64Array,
): Float64Array {
  return basis.reduce((row, { row: other, pivot }) => row.map((value, i) => value - row[pivot] * other[i]), given);
}

function spans(basis: readonly { readonly row: Float64Array; readonly pivot: number }[], given: Float64Array): boolean {
  return without(basis, given).every((value) => Math.abs(value) < 1e-9);
}
