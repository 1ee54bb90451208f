/** The trainer against a second one that is as simple as possible: no bins, no histograms, recursion, whole sums. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "../split/binning.ts";
import { predictMargins, toPredictions } from "../tree/predict.ts";
import { trainCentralised, type Quantise } from "./train.ts";
import type { SplitRule, Tree } from "../tree/tree.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const resolution = 2 ** -20;
const shift = -16;
const quantise: Quantise = ({ values: [g, h] }) => ({
  instanceCount: g.length,
  grids: [
    { shift, resolution },
    { shift: 0, resolution },
  ],
  columns: [g.map((x) => Math.round((x - shift) / resolution)), h.map((x) => Math.round(x / resolution))],
});

interface Data {
  parties: Float32Array[][];
  labels: Float64Array;
  parameters: TrainingParameters;
}

function train({ parties, labels, parameters }: Data) {
  const binned = parties.map((own) => own.map((values, j) => binFeature(`f${j}`, values, parameters.max_bin)));
  return trainCentralised({ parties: binned, rows: new TrainingRows(labels), parameters, quantise });
}

/** A tree in nested form, which is easy to write by hand. */
type Nested =
  | { weight: number }
  | { owner: number; feature: number; threshold: number; defaultLeft: boolean; left: Nested; right: Nested };

function nest(tree: Tree<SplitRule>, id = 0): Nested {
  const node = tree[id];
  if (node.kind === "leaf") return { weight: node.weight };
  const { owner, feature, threshold = Number.NaN, defaultLeft } = node.rule;
  return { owner, feature, threshold, defaultLeft, left: nest(tree, node.left), right: nest(tree, node.right) };
}

/** Sums g and h of rows, first as integers. */
function sumsOf(rows: number[], q: { g: Float64Array; h: Float64Array }): { g: number; h: number } {
  const add = (values: Float64Array): number => rows.reduce((sum, row) => sum + values[row], 0);
  return { g: add(q.g) * resolution + rows.length * shift, h: add(q.h) * resolution };
}

function bruteTree(data: Data, q: { g: Float64Array; h: Float64Array }, rows: number[], depth: number): Nested {
  const { lambda, gamma, min_child_weight: minWeight, eta, max_depth: maxDepth } = data.parameters;
  const term = ({ g, h }: { g: number; h: number }): number => (g * g) / (h + lambda);
  const total = sumsOf(rows, q);
  let best = { gain: -Infinity, owner: 0, feature: 0, threshold: 0, defaultLeft: false };
  data.parties.forEach((own, owner) =>
    own.forEach((column, feature) => {
      const present = column.filter((x) => !Number.isNaN(x));
      // The lowest value first, so that the cuts are the second distinct value and up; then "all present left".
      const cuts = [...new Set(present)].sort((a, b) => a - b).slice(1);
      const max = Math.max(...present);
      if (present.length > 0) cuts.push(Math.fround(max + (Math.abs(max) + Math.fround(1e-5))));
      for (const threshold of cuts) {
        for (const defaultLeft of [false, true]) {
          const goesLeft = (row: number): boolean =>
            Number.isNaN(column[row]) ? defaultLeft : column[row] < threshold;
          const [left, right] = [rows.filter(goesLeft), rows.filter((row) => !goesLeft(row))];
          if (left.length === 0 || right.length === 0) continue;
          const [a, b] = [sumsOf(left, q), sumsOf(right, q)];
          if (a.h <= 0 || b.h <= 0 || a.h < minWeight || b.h < minWeight) continue;
          const gain = term(a) + term(b) - term(total);
          if (gain > best.gain) best = { gain, owner, feature, threshold, defaultLeft };
        }
      }
    }),
  );
  if (depth === maxDepth || !(best.gain > 1e-6 && best.gain >= gamma)) {
    const weight = total.h < minWeight || total.h <= 0 ? 0 : -total.g / (total.h + lambda);
    return { weight: Math.fround(eta * weight) + 0 };
  }
  const { owner, feature, threshold, defaultLeft } = best;
  const column = data.parties[owner][feature];
  const goesLeft = (row: number): boolean => (Number.isNaN(column[row]) ? defaultLeft : column[row] < threshold);
  const left = bruteTree(data, q, rows.filter(goesLeft), depth + 1);
  const right = bruteTree(
    data,
    q,
    rows.filter((row) => !goesLeft(row)),
    depth + 1,
  );
  return { owner, feature, threshold, defaultLeft, left, right };
}

const dataArbitrary: fc.Arbitrary<Data> = fc
  .record({
    seed: fc.nat(),
    rowCount: fc.integer({ min: 4, max: 40 }),
    featureCounts: fc.constantFrom([2], [1, 2], [0, 2, 1]),
    missingFraction: fc.constantFrom(0, 0.3),
    isDuplicated: fc.boolean(),
    given: fc.record({
      objective: fc.constantFrom("binary:logistic", "reg:squarederror"),
      max_depth: fc.integer({ min: 1, max: 4 }),
      lambda: fc.constantFrom(0, 1, 3),
      gamma: fc.constantFrom(0, 0.5),
      min_child_weight: fc.constantFrom(0, 0.6, 2),
      eta: fc.constantFrom(0.3, 1),
    }),
  })
  .map(({ seed, rowCount, featureCounts, missingFraction, isDuplicated, given }) => {
    const random = new SeededRandom(seed);
    const column = (): Float32Array =>
      Float32Array.from({ length: rowCount }, () => (random.uniform() < missingFraction ? NaN : random.below(6) - 2.5));
    const parties = featureCounts.map((count) => Array.from({ length: count }, column));
    // Duplicate columns in two parties, or twice in one, make exact ties.
    if (isDuplicated) parties.push([...parties[0]], [parties[parties.length - 1][0], column()]);
    const isClass = given.objective === "binary:logistic";
    const labels = Float64Array.from({ length: rowCount }, () => (isClass ? random.below(2) : random.below(9) - 4));
    [labels[0], labels[1]] = [0, 1]; // both classes
    return { parties, labels, parameters: resolveParameters(trainingParameters, { ...given, num_round: 1 }) };
  });

describe("trainCentralised", () => {
  it("grows the same tree as a trainer without bins and histograms, ties included", async () => {
    let splitCount = 0;
    await fc.assert(
      fc.asyncProperty(dataArbitrary, async (data) => {
        const margins = data.labels.map(() => (data.parameters.objective === "binary:logistic" ? 0 : 0.5));
        const p = data.labels.map((_, i) => (data.parameters.objective === "binary:logistic" ? 0.5 : margins[i]));
        const g = p.map((x, i) => Math.round((x - data.labels[i] - shift) / resolution));
        const h = p.map((x) =>
          Math.round((data.parameters.objective === "binary:logistic" ? x * (1 - x) : 1) / resolution),
        );
        const model = await train(data);
        splitCount += model.trees[0].length >> 1;
        const rows = [...data.labels.keys()];
        expect(nest(model.trees[0])).toEqual(bruteTree(data, { g, h }, rows, 0));
      }),
      { numRuns: 300 },
    );
    expect(splitCount).toBeGreaterThan(300);
  });

  it("predicts its training rows to the bit, and numbers nodes level by level", async () => {
    await fc.assert(
      fc.asyncProperty(dataArbitrary, async (data) => {
        const model = await train({ ...data, parameters: { ...data.parameters, num_round: 3 } });
        expect(predictMargins(model, data.parties, data.labels.length)).toEqual(model.trainMargins);
        for (const tree of model.trees) {
          let next = 1;
          tree.forEach((node) => {
            if (node.kind === "leaf") return;
            expect([node.left, node.right]).toEqual([next, next + 1]);
            expect(tree[node.left].count + tree[node.right].count).toBe(node.count);
            next += 2;
          });
          expect(next).toBe(tree.length);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("gives a column that two parties hold to the lower one", async () => {
    const column = Float32Array.of(1, 2, 3, 4, 5, 6);
    const labels = Float64Array.of(0, 0, 0, 1, 1, 1);
    const parameters = resolveParameters(trainingParameters, { num_round: 1, max_depth: 1, min_child_weight: 0 });
    const { trees } = await train({ parties: [[], [column], [column]], labels, parameters });
    expect(trees[0][0]).toMatchObject({ rule: { owner: 1, feature: 0, threshold: 4, defaultLeft: false } });
  });

  it("reports each tree with the margins that include it", async () => {
    const column = Float32Array.of(1, 2, 3, 4);
    const seen: number[] = [];
    const model = await trainCentralised({
      parties: [[binFeature("x", column, 8)]],
      rows: new TrainingRows(Float64Array.of(0, 0, 1, 1)),
      parameters: resolveParameters(trainingParameters, { num_round: 2, min_child_weight: 0 }),
      quantise,
      onTree: (_, treeIndex, margins) => seen.push(treeIndex, margins[0]),
    });
    expect(seen[0]).toBe(0);
    expect(seen[2]).toBe(1);
    expect(seen[3]).toBe(model.trainMargins[0]);
    expect(seen[1]).toBeGreaterThan(seen[3]);
    const [low, , , high] = toPredictions(model, model.trainMargins);
    expect(low).toBeLessThan(0.5);
    expect(high).toBeGreaterThan(0.5);
  });

  it("is a single leaf without features", async () => {
    const parameters = resolveParameters(trainingParameters, {
      num_round: 1,
      objective: "reg:squarederror",
      eta: 1,
      lambda: 0,
    });
    const { trees } = await train({ parties: [[]], labels: Float64Array.of(1, 2), parameters });
    expect(trees[0]).toEqual([{ kind: "leaf", weight: 1, cover: 2, count: 2 }]);
  });

  it("rejects labels that the objective cannot use", async () => {
    const parameters = resolveParameters(trainingParameters, {});
    await expect(train({ parties: [[]], labels: Float64Array.of(1, 1), parameters })).rejects.toThrow("both 0 and 1");
  });
});
