import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { attackedJob } from "../../../test/support/attacked-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { Capacity, sentNodes } from "./capacity.ts";
import { eigenvalues } from "./eigenvalues.ts";

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
  const bits = [1, 3, 10, 100].map((sigma) => new Capacity(transcript, { sigma: sigma * unit }).bits(0.1));
  expect(bits[0]).toBeGreaterThan(0);
  for (let i = 1; i < bits.length; i++) expect(bits[i]).toBeLessThan(bits[i - 1] / 2);
  const [tree] = transcript.trees;
  expect(sentNodes(tree).length).toBe((tree.nodes.length + 1) / 2);
  // A root alone, h constant at 1/4 in the first tree: a matrix of two rows, whose determinant is known.
  const root = { ...transcript, trees: [{ ...tree, nodes: tree.nodes.slice(0, 1) }] };
  const [, h] = tree.gradients.columns;
  expect(new Set(h).size).toBe(1);
  const only = new Capacity(root, { sigma: 1e6 * unit }).bits(0.1);
  const g = tree.gradients.columns[0].map(
    (q) => q * tree.gradients.grids[0].resolution + tree.gradients.grids[0].shift,
  );
  const power = g.reduce((sum, x) => sum + x * x, 0) + 200 * (0.25 / 0.25) ** 2;
  expect(only).toBeCloseTo((0.1 * power) / 1e12 / 2 / 2 / Math.LN2 / 200, 20);
});
