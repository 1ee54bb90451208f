/**
 * The oracle of test/oracle.test.ts for categorical features, at the active party and at passive ones: federated equals
 * centralised, node for node.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Shortcuts } from "../src/scheme/shortcuts.ts";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import type { SplitRule } from "../src/gbdt/tree/tree.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { seedCount } from "./support/campaign.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { expectError } from "./support/expect-error.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const shape = { rows: 160, features: [1, 1, 1], categories: [[6], [3, 9], [2]], missingFraction: 0.1 };
const tableOf = (seed: number): TestTable => categoricalTable(seed, shape);

interface Variant extends Omit<Partial<TestJob>, "table" | "training"> {
  readonly training?: Partial<TrainingParameters>;
  readonly table?: (seed: number) => TestTable;
  readonly seeds?: number;
}

/**
 * Trains both ways for some seeds, and predicts the training rows with the merged model. @returns the rules on
 * categories, by owner
 */
async function expectEqual({
  training,
  table = tableOf,
  seeds = seedCount({ test: 1, campaign: 2 }),
  ...job
}: Variant = {}): Promise<SplitRule[]> {
  const rules: SplitRule[] = [];
  for (let seed = 0; seed < seeds; seed++) {
    const given = { kernel, key, ...job, table: table(seed), training: { enable_categorical: true, ...training } };
    const { model, margins } = await trainFederated(given);
    expect(firstDifference(model, await trainInOnePlace(given)), `seed ${seed}`).toBeNull();
    if (training?.early_stopping_rounds === undefined)
      expect(predictMargins(model, given.table.parties, given.table.labels.length, given.table.categories)).toEqual(
        margins,
      );
    rules.push(...categoryRules(model));
  }
  expect(
    rules.some(({ owner }) => owner > 0),
    "no passive party's categories were split on, nothing was tested",
  ).toBe(true);
  return rules;
}

function categoryRules({ trees }: Model): SplitRule[] {
  return trees
    .flat()
    .flatMap((node) => (node.kind === "split" && node.rule.categories !== undefined ? [node.rule] : []));
}

describe("one-hot splits and category sets", () => {
  test("by the number of categories", async () => {
    const rules = await expectEqual({ training: { num_round: 4, max_depth: 4 }, seeds: 3 });
    const sizes = (wanted: (rule: SplitRule) => boolean): number[] =>
      rules.filter(wanted).map(({ categories = [] }) => categories.length);
    // Three categories: fewer than four.
    expect(Math.max(...sizes(({ owner, feature }) => owner === 1 && feature === 1))).toBe(1);
    expect(Math.max(...sizes(({ owner, feature }) => owner === 1 && feature === 2))).toBeGreaterThan(1);
    expect(Math.max(...sizes(({ owner }) => owner === 0))).toBeGreaterThan(1);
    expect(new Set(rules.map(({ defaultLeft }) => defaultLeft))).toEqual(new Set([true, false]));
  });

  test("all one-hot", async () => {
    for (const { categories } of await expectEqual({ training: { max_cat_to_onehot: 100 } }))
      expect(categories).toHaveLength(1);
  });

  test("all sets", () => expectEqual({ training: { max_cat_to_onehot: 1 } }));
  test("max_cat_threshold", async () => {
    const rules = await expectEqual({ training: { max_cat_threshold: 3, max_cat_to_onehot: 2 } });
    const nine = rules
      .filter(({ owner, feature }) => owner === 1 && feature === 2)
      .map(({ categories = [] }) => categories.length);
    expect(nine.every((size) => size <= 2 || size >= 7)).toBe(true);
  });
  test("max_cat_threshold without missing values: cuts from the back win, with a default direction", async () => {
    const table = (seed: number): TestTable =>
      categoricalTable(seed, { rows: 300, features: [0, 0, 0], categories: [[24], [30], [20]], missingFraction: 0 });
    const rules = await expectEqual({ training: { max_cat_threshold: 4, num_round: 4 }, seeds: 3, table });
    const fromTheBack = rules.filter(({ categories = [] }) => categories.length > 4);
    expect(fromTheBack.some(({ owner }) => owner > 0)).toBe(true);
    expect(fromTheBack.every(({ defaultLeft }) => !defaultLeft)).toBe(true);
  });
  test("without missing values", () =>
    expectEqual({ table: (seed) => categoricalTable(seed, { ...shape, missingFraction: 0 }) }));
  test("mostly missing values: their bin is the one that is left out", () =>
    expectEqual({ table: (seed) => categoricalTable(seed, { ...shape, missingFraction: 0.6 }) }));
  test("categories and nothing else", () =>
    expectEqual({ table: (seed) => categoricalTable(seed, { ...shape, features: [0, 0, 0] }) }));
  test("columns of one category, of none, and of one per row", async () => {
    const odd = (seed: number): TestTable => {
      const table = categoricalTable(seed, { ...shape, rows: 60, categories: [[1], [1, 60], [2, 3]] });
      const [first, second, third] = table.parties;
      return {
        ...table,
        parties: [first, second, [...third.slice(0, -1), third[third.length - 1].map(() => Number.NaN)]],
      };
    };
    await expectEqual({ table: odd, training: { min_category_people: 0 } });
    await expectEqual({ table: odd, training: { max_cat_to_onehot: 1, min_category_people: 0 } });
  });
});

describe("combined with other parameters", () => {
  test.each<Partial<TrainingParameters>>([
    { subsample: 0.5 },
    { sampling_method: "goss", min_category_people: 4 },
    { colsample_bytree: 0.6 },
    { colsample_bynode: 0.6, colsample_bylevel: 0.8 },
    { grow_policy: "lossguide", max_leaves: 7, max_depth: 6 },
    { alpha: 0.3, max_delta_step: 0.5, min_child_weight: 2 },
    { local_rounds: 1 },
  ])("%o", async (training) => void (await expectEqual({ training, seeds: 1 })));

  test.each<Partial<Shortcuts>>([{ packing: false }, { subtraction: false }, { skipBin: false }, { jointBins: false }])(
    "%o",
    async (shortcuts) => void (await expectEqual({ shortcuts, seeds: 1 })),
  );

  test("the portable kernel, unbatched", () =>
    expectEqual({
      kernel: portableKernel,
      codec: { codec: "unbatched" },
      seeds: 1,
      training: { num_round: 2 },
      table: (seed) => categoricalTable(seed, { ...shape, rows: 60 }),
    }));
  test("a grid so fine that sums are taken in limbs", () =>
    expectEqual({ codec: { resolution_bits: 44, padding: 12 }, seeds: 1 }));
  test("squared error", () =>
    expectEqual({
      training: { objective: "reg:squarederror" },
      table: (seed) => categoricalTable(seed, { ...shape, regression: true }),
      seeds: 1,
    }));

  test("monotone constraints on numeric features only", async () => {
    const constrained = (seed: number): TestTable => ({
      ...tableOf(seed),
      monotone: [
        [1, 0],
        [-1, 0, 0],
        [1, 0],
      ],
    });
    await expectEqual({ table: constrained, seeds: 1 });
    await expectError(
      () =>
        trainFederated({
          kernel,
          key,
          table: {
            ...tableOf(0),
            monotone: [
              [0, 1],
              [0, 0, 0],
              [0, 0],
            ],
          },
          training: { enable_categorical: true },
        }),
      "USAGE",
      /'p0f1'.*categories/,
    );
  });

  test("validation rows, some of them in categories that no training row has", async () => {
    const table = (seed: number): TestTable => ({
      ...tableOf(seed),
      validationRows: Uint32Array.from({ length: 50 }, (_, i) => 3 * i + 1),
    });
    await expectEqual({ table, training: { num_round: 12, early_stopping_rounds: 2 } });
    const rare = (seed: number): TestTable => {
      const given = table(seed);
      const codes = given.parties[1][2].slice();
      given.validationRows?.forEach((row, i) => (codes[row] = i % 3 === 0 ? 9 : codes[row]));
      const names = [...(given.categories?.[1][2] ?? []), "never seen"];
      return {
        ...given,
        parties: [given.parties[0], [...given.parties[1].slice(0, 2), codes], given.parties[2]],
        categories: [
          given.categories?.[0] ?? [],
          [null, given.categories?.[1][1] ?? null, names],
          given.categories?.[2] ?? [],
        ],
      };
    };
    const rules = await expectEqual({ table: rare });
    expect(rules.flatMap(({ categories = [] }) => categories)).not.toContain("never seen");
  });

  test("several classes: trees of their own with sets of categories, or leaves of several weights", async () => {
    const classes = (seed: number): TestTable => ({
      ...tableOf(seed),
      labels: Float64Array.from(tableOf(seed).labels, (label, row) =>
        label === 1 ? 1 + (tableOf(seed).parties[1][2][row] > 3 ? 1 : 0) : 0,
      ),
    });
    const training = { objective: "multi:softprob", num_class: 3, num_round: 2 } as const;
    const sets = await expectEqual({ training, table: classes, seeds: 1 });
    expect(Math.max(...sets.map(({ categories = [] }) => categories.length))).toBeGreaterThan(1);
    const single = await expectEqual({
      training: { ...training, multi_strategy: "multi_output_tree" },
      table: classes,
      seeds: 1,
    });
    expect(Math.max(...single.map(({ categories = [] }) => categories.length))).toBe(1);
  });
});

describe.each([curve, lattice])("with the $name scheme", (scheme) => {
  const sizesOf = (rules: readonly SplitRule[]): number[] => rules.map(({ categories = [] }) => categories.length);
  const training = { num_round: 2, max_cat_threshold: 4 };

  test("more categories than cuts: the best cut lies near either end", async () => {
    const shape = { rows: 200, features: [0, 0], categories: [[4], [30, 12]], missingFraction: 0 };
    const rules = await expectEqual({ scheme, training, table: (seed) => categoricalTable(seed, shape) });
    const others = rules.filter(({ owner }) => owner > 0);
    expect(Math.max(...sizesOf(others))).toBeGreaterThan(4);
    expect(Math.min(...sizesOf(others))).toBeLessThanOrEqual(4);
    expect(others.every(({ defaultLeft, categories = [] }) => categories.length <= 4 || !defaultLeft)).toBe(true);
  });

  test("missing values go to either side of a set, or of one category", async () => {
    const shape = { rows: 160, features: [1, 0, 0], categories: [[6], [9, 3], [14]], missingFraction: 0.25 };
    const rules = await expectEqual({ scheme, training, table: (seed) => categoricalTable(seed, shape) });
    const others = rules.filter(({ owner }) => owner > 0);
    expect(new Set(others.map(({ defaultLeft }) => defaultLeft))).toEqual(new Set([true, false]));
    expect(Math.max(...sizesOf(others))).toBeGreaterThan(1);
    expect(Math.min(...sizesOf(others.filter(({ owner, feature }) => owner === 1 && feature === 1)))).toBe(1);
  });
});

describe("minimums of a passive party", () => {
  test.each([
    { perNode: 1, perCandidate: 5 },
    { perNode: 12, perCandidate: 3 },
    { perNode: 20, perCandidate: 1 },
  ])("%o", async (minimums) => {
    const off = { perNode: 1, perCandidate: 1 };
    const training = { max_depth: 4 };
    await expectEqual({ training, minimums: [off, minimums, off] });
    await expectEqual({
      training: { ...training, subsample: 0.6, colsample_bynode: 0.7 },
      minimums: [off, minimums, minimums],
      seeds: 1,
    });
  });

  test("fewer cuts than categories: suppressed missing values stay left with cuts from either end", async () => {
    const off = { perNode: 1, perCandidate: 1 };
    const minimums = { perNode: 1, perCandidate: 6 };
    const shape = { rows: 300, features: [0, 0, 0], categories: [[20], [24], [18]], missingFraction: 0.015 };
    const rules = await expectEqual({
      training: { max_cat_threshold: 4, num_round: 4 },
      table: (seed) => categoricalTable(seed, shape),
      minimums: [off, minimums, minimums],
      seeds: 3,
    });
    const fromTheBack = rules.filter(({ owner, categories = [] }) => owner > 0 && categories.length > 4);
    expect(fromTheBack.some(({ defaultLeft }) => defaultLeft)).toBe(true);
  });
});
