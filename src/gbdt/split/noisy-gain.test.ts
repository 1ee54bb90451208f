import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { bestPartition } from "./category-partition.ts";
import { type SplitParameters, TreeGain, unbounded } from "./gain.ts";

const plain: SplitParameters = { lambda: 1, gamma: 0, minChildWeight: 0, alpha: 0, maxDeltaStep: 0 };
const resolution = 2 ** -20;
const sigma = 3 / resolution;
const noise = { unit: 1 / resolution, sigma, drawnMax: 16 * sigma, max: 16 * sigma };
const deviations = 1;

function gainOf(given: Partial<SplitParameters> = {}, outputs = [0], isConstrained = false): TreeGain {
  const grids = outputs.flatMap(() => [0, 1].map(() => ({ shift: 0, resolution })));
  return new TreeGain(grids, { ...plain, ...given }, { outputs, isConstrained, hidesCounts: true, noise });
}

/** Real sums as a row on the grid, without a count. */
const rowOf = (...sums: number[]): Float64Array => Float64Array.of(...sums.map((sum) => sum / resolution), 0);
const totals = rowOf(40, 900);
const side = rowOf(110, 300);

/** What one draw adds to the gain on average, and its standard deviation. */
function measured(gain: TreeGain, draws: number): { mean: number; deviation: number } {
  const random = new SeededRandom("noisy gain");
  const [exact] = gain.gains(side, totals);
  const added = Array.from({ length: 20_000 }, () => {
    const noisy = side.map((sum, i) => (i === 2 ? 0 : Math.round(sum + random.normal() * sigma * Math.sqrt(draws))));
    return gain.gains(noisy, totals)[0] - exact;
  });
  const mean = added.reduce((sum, value) => sum + value, 0) / added.length;
  return { mean, deviation: Math.sqrt(added.reduce((sum, value) => sum + (value - mean) ** 2, 0) / added.length) };
}

test.each([
  ["plain", {}, false],
  ["L1", { alpha: 5 }, false],
  ["bounded weights", { maxDeltaStep: 2 }, false],
  ["monotone", {}, true],
] as const)("takes off what noise adds on average, and deviations of it: %s", (_, given, isConstrained) => {
  const gain = gainOf(given, [0], isConstrained);
  for (const draws of [1, 4]) {
    const { mean, deviation } = measured(gain, draws);
    const takenOff = gain.gains(side, totals)[0] - gain.gains(side, totals, unbounded, 0, draws)[0];
    const error = 5 * (deviation / Math.sqrt(20_000));
    expect(Math.abs(takenOff - (mean + deviations * deviation))).toBeLessThan(error + 0.05 * takenOff);
  }
});

test("is the same for either side, bit for bit", () => {
  const random = new SeededRandom("sides");
  const gain = gainOf({ alpha: 0.5 }, [0, 1]);
  const whole = rowOf(3, 700, -20, 500);
  for (let i = 0; i < 300; i++) {
    const one = whole.map((sum, c) => (c === 4 ? 0 : Math.round(sum * random.uniform() + 1000 * random.normal())));
    const other = whole.map((sum, c) => sum - one[c]);
    expect(gain.gains(one, whole, unbounded, 0, 2)).toEqual(gain.gains(other, whole, unbounded, 0, 2));
  }
});

test("is the plain gain without draws, and per candidate otherwise", () => {
  const rows = Float64Array.of(...side, ...side);
  const [exact, noisy] = gainOf().gains(rows, totals, unbounded, 0, Float64Array.of(0, 1));
  expect(exact).toBe(
    new TreeGain(
      [
        { shift: 0, resolution },
        { shift: 0, resolution },
      ],
      plain,
      { hidesCounts: true },
    ).gains(side, totals)[0],
  );
  expect(noisy).toBeLessThan(exact);
});

test("a side of noise alone hardly ever is a gain, however large its leaf weight", () => {
  const random = new SeededRandom("empty side");
  const draws = 10_000;
  let [wins, uncorrected] = [0, 0];
  for (let i = 0; i < draws; i++) {
    const empty = Float64Array.of(...[0, 1].map(() => Math.round(random.normal() * sigma)), 0);
    if (gainOf().gains(empty, totals, unbounded, 0, 1)[0] > 0) wins++;
    if (gainOf().gains(empty, totals)[0] > 0) uncorrected++;
  }
  expect(wins).toBeLessThan(draws / 1000);
  expect(uncorrected).toBeGreaterThan(draws / 4);
});

test("each category of a set brings a draw of its own", () => {
  const rows = Float64Array.of(...rowOf(-60, 300), ...rowOf(-50, 300), ...rowOf(150, 300));
  const given = { rows, hasMissing: false, suppressed: new Uint8Array(3) };
  const gain = gainOf();
  const found = bestPartition(given, totals, gain, unbounded, 1);
  expect(found?.candidate.categories).toEqual([2]); // the same cut as that of the other two, with one draw
  expect(found?.gain).toBe(gain.gains(rows.slice(6, 9), totals, unbounded, 0, 1)[0]);
});
