import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { attackedJob } from "../../../test/support/attacked-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { binFeature } from "../../gbdt/split/binning.ts";
import { Capacity, sentNodes, sideCovariance } from "./capacity.ts";
import { eigenvalues } from "./eigenvalues.ts";
import { PossibleBins } from "./possible-bins.ts";
import type { Transcript } from "./transcript.ts";

const grid = { shift: 0, resolution: 1 };

test("eigenvalues have the trace, the squares and the determinant of their matrix", () => {
  const random = new SeededRandom("eigenvalues");
  for (const count of [1, 2, 3, 7, 20]) {
    const matrix = Array.from({ length: count }, () => new Float64Array(count));
    for (let i = 0; i < count; i++)
      for (let j = 0; j <= i; j++) matrix[i][j] = matrix[j][i] = i === j ? 3 + random.normal() : random.normal() / 2;
    const trace = matrix.reduce((sum, row, i) => sum + row[i], 0);
    const squares = matrix.flatMap((row) => Array.from(row)).reduce((sum, x) => sum + x * x, 0);
    const found = eigenvalues(matrix);
    expect(found.reduce((sum, x) => sum + x, 0)).toBeCloseTo(trace, 9);
    expect(found.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(squares, 8);
  }
  expect(eigenvalues([Float64Array.of(2, 1), Float64Array.of(1, 2)]).sort((a, b) => a - b)).toEqual([
    expect.closeTo(1, 12),
    expect.closeTo(3, 12),
  ]);
});

test("more noise carries fewer bits, one sum matches the formula, and half of the nodes are sent", async () => {
  const { transcript } = await attackedJob(
    randomTable("capacity", { rows: 200, features: [2, 2], missingFraction: 0 }),
    {
      num_round: 4,
    },
  );
  const unit = 2 ** 24;
  const bits = [1, 3, 10, 100].map((sigma) =>
    new Capacity(transcript, { sigma: sigma * unit }).bits([Float64Array.of(0.1)]),
  );
  expect(bits[0]).toBeGreaterThan(0);
  for (let i = 1; i < bits.length; i++) expect(bits[i]).toBeLessThan(bits[i - 1] / 2);
  const [tree] = transcript.trees;
  expect(sentNodes(tree).length).toBe((tree.nodes.length + 1) / 2);
  // A root alone, h constant at 1/4 in the first tree: a matrix of two rows, whose determinant is known.
  const root = { ...transcript, trees: [{ ...tree, nodes: tree.nodes.slice(0, 1) }] };
  const [, h] = tree.gradients.columns;
  expect(new Set(h).size).toBe(1);
  const only = new Capacity(root, { sigma: 1e6 * unit }).bits([Float64Array.of(0.1)]);
  const g = tree.gradients.columns[0].map(
    (q) => q * tree.gradients.grids[0].resolution + tree.gradients.grids[0].shift,
  );
  const power = g.reduce((sum, x) => sum + x * x, 0) + 200 * (0.25 / 0.25) ** 2;
  expect(only).toBeCloseTo((0.1 * power) / 1e12 / 2 / Math.LN2 / 200, 19);
});

describe("what noisy sums of all people reveal, exactly", () => {
  const people = 4;
  const trees = 4;
  const values = Float32Array.from({ length: people }, (_, i) => i);
  const feature = binFeature("x", values, 8);
  const random = new SeededRandom("channel");
  const columns = Array.from({ length: trees }, () =>
    [0, 1].map(() => Float64Array.from({ length: people }, () => random.normal())),
  );
  const everyone = Uint32Array.from({ length: people }, (_, i) => i);
  const transcript = {
    instanceCount: people,
    trees: columns.map((slots, tree) => ({
      tree,
      gradients: { instanceCount: people, grids: [grid, grid], columns: slots },
      nodes: [{ id: 0, parent: -1, instances: everyone, summed: everyone }],
    })),
  } as unknown as Transcript;
  const shares = [1 / 4, 1 / 4, 1 / 4, 1 / 4];
  const nothing = [0, 1, 2, 3].map(() => [0, 1, 2, 3]);
  // The bins that splits have left to each.
  const something = [
    [0, 1],
    [0, 1, 2, 3],
    [2, 3],
    [0, 1, 2, 3],
  ];

  test.each([
    [1, "nothing", nothing],
    [2, "nothing", nothing],
    [4, "nothing", nothing],
    [2, "something", something],
    [4, "something", something],
  ])("noise %d, %s known: no more than the bound", (sigma, known, possible) => {
    const left = new PossibleBins(feature, everyone);
    possible.forEach((bins, i) => left.narrow(i, left.mask(shares.map((_, bin) => (bins.includes(bin) ? 1 : 0)))));
    const states = Array.from({ length: 4 ** people }, (_, state) =>
      Array.from({ length: people }, (_person, i) => Math.floor(state / 4 ** i) % 4),
    ).filter((bins) => bins.every((bin, i) => possible[i].includes(bin)));
    // Per row of gradients and threshold the sum of the people below it.
    const sums = states.map((bins) =>
      columns.flatMap((slots) =>
        slots.flatMap((slot) =>
          [0, 1, 2].map((threshold) => bins.reduce((sum, bin, i) => sum + (bin <= threshold ? slot[i] : 0), 0)),
        ),
      ),
    );
    const drawn = 1500;
    const gains = Array.from({ length: drawn }, () => {
      const state = Math.floor(random.uniform() * states.length);
      const seen = sums[state].map((sum) => sum + sigma * random.normal());
      const likelihood = (at: number): number =>
        Math.exp(-sums[at].reduce((all, sum, i) => all + (seen[i] - sum) ** 2, 0) / (2 * sigma * sigma));
      const mean = states.reduce((all, _, at) => all + likelihood(at), 0) / states.length;
      return Math.log2(likelihood(state) / mean);
    });
    const mean = gains.reduce((a, b) => a + b, 0) / drawn;
    const error = Math.sqrt(gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0)) / drawn;
    const capacity = new Capacity(transcript, { sigma });
    const bound = people * capacity.bits(sideCovariance(feature, left, capacity.power));
    expect(bound).toBeGreaterThan(mean - 3 * error);
    if (known === "something" || sigma === 1) return;
    // Each bin for itself, as the difference of two thresholds with twice the noise, is less than what is revealed.
    const single = shares.reduce(
      (sum, share) => sum + people * capacity.bits([Float64Array.of((share * (1 - share)) / 2)]),
      0,
    );
    expect(single).toBeLessThan(mean - 3 * error);
  });
});
