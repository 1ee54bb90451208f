import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import type { PartyTable } from "../../data/dataset.ts";
import { resolveJob } from "../../party/resolve-job.ts";
import type { Preset } from "../../privacy/defences/defences.ts";
import { presetPrices, type PricedSplit } from "./preset-price.ts";

/** Labels follow the passive party's column, this much, and the active party's a little. */
function tables(seed: string, count: number, slope = 10): PartyTable[] {
  const random = new SeededRandom(seed);
  const columns = [0, 1].map(() => Float32Array.from({ length: count }, () => random.normal()));
  const labels = Float64Array.from(columns[1], (x, i) => slope * x + 2 * columns[0][i] + random.normal());
  const ids = Array.from({ length: count }, (_, i) => String(i));
  return columns.map((column, party) => ({
    ids,
    featureNames: [`x${party}`],
    features: [column],
    labels: party === 0 ? labels : null,
  }));
}

function splitOf(seed: string, privacy: (preset: Preset) => object): PricedSplit {
  const training = { objective: "reg:squarederror", num_round: 5, max_depth: 2, max_bin: 16 };
  const job = (preset: Preset) => resolveJob({ scheme: "lattice", training, privacy: { ...privacy(preset) } });
  return { train: tables(seed, 600), test: tables(`${seed} test`, 200), job };
}

test("a preset that hides sums keeps most of the gain of a regression; exact keeps all", async () => {
  const splits = ["a", "b"].map((seed) => splitOf(seed, (privacy) => ({ privacy })));
  const [exact, guarded] = (await presetPrices(splits)) ?? [];
  expect(exact).toMatchObject({ preset: "exact", sums: "exact", metric: "rmse", kept: 1, lowest: 1, highest: 1 });
  expect(guarded).toMatchObject({ preset: "guarded", sums: "hidden" });
  expect(guarded.kept).toBeGreaterThan(0.5);
  expect(guarded.kept).toBeLessThan(1.01);
});

test("noise that drowns the sums keeps nothing", async () => {
  const loud = (preset: Preset) => (preset === "exact" ? {} : { privacy: preset, answer_noise: 900 });
  const prices = (await presetPrices([splitOf("c", loud)])) ?? [];
  expect(prices.map(({ sums }) => sums)).toEqual(["exact", "noise 900", "noise 900"]);
  for (const { kept } of prices.slice(1)) expect(kept).toBeLessThan(0.5);
});

test("where the other columns mislead there is no gain to keep", async () => {
  const split = splitOf("d", (privacy) => ({ privacy }));
  const prices = (await presetPrices([{ ...split, test: tables("d test", 200, -10) }])) ?? [];
  expect(prices.map(({ kept }) => kept)).toEqual([null, null, null]);
});
