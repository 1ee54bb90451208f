/**
 * Exported models against XGBoost: always against golden files that XGBoost 1.7.4 predicted with (see
 * test/fixtures/xgboost-export/README.md), and against XGBoost itself where python3 has it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { trainingParameters, type TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { SeededRandom } from "../src/base/random.ts";
import { columnIndex, idColumn, labelColumn, numericColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import type { PartyTable } from "../src/data/dataset.ts";
import { trainInOnePlace } from "../src/simulate/comparison.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { type ObjectiveName, objectiveFor } from "../src/gbdt/objective/objectives.ts";
import { toPredictions, predictMargins } from "../src/gbdt/tree/predict.ts";
import { valueGoesLeft } from "../src/gbdt/split/split-test.ts";
import { leafOf, type SplitNode, type SplitRule } from "../src/gbdt/tree/tree.ts";
import { earliestXgboost, predictionTolerance, worstDifference } from "../src/gbdt/tree/xgboost-agreement.ts";
import { gbtreeOf } from "../src/store/xgboost/booster.ts";
import { writeXgboostModel, xgboostModel } from "../src/store/xgboost/export.ts";
import { xgboostFeatureNames } from "../src/store/xgboost/names.ts";
import { xgboostText } from "../src/store/xgboost/text.ts";
import { seedCount } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { expectError } from "./support/expect-error.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { resolveJob } from "../src/party/resolve-job.ts";
import { randomTable } from "./support/tables.ts";
import { askXgboost, pythonWithXgboost, type Scored, xgboostMajor } from "./support/xgboost.ts";

const fixtures = fileURLToPath(new URL("fixtures/xgboost-export/", import.meta.url));
const directory = scratchDirectory();

async function train(tables: readonly PartyTable[], training: Partial<TrainingParameters>): Promise<Model> {
  const job = resolveJob({ training: { max_bin: 16, ...training }, insecureKeyBits: 256 });
  return (await trainInOnePlace({ job, train: tables, test: null })).model;
}

const namesOf = (tables: readonly PartyTable[]): string[][] => tables.map(({ featureNames }) => featureNames);
const columnsOf = (tables: readonly PartyTable[]): Float32Array[][] => tables.map(({ features }) => features);

describe("golden files", () => {
  const parties = [["#1", "#2", "#3"], ["#4", "#5"], ["#6"]];
  // The same as in make.py.
  const goldens = {
    logistic: { label: "defaulted", training: { num_round: 5, max_depth: 3, base_score: 0.3 } },
    squared: {
      label: "loss",
      training: { objective: "reg:squarederror", num_round: 3, max_depth: 4, base_score: -1.25, lambda: 0.5 },
    },
  } as const;

  async function read(file: string, label: string): Promise<PartyTable[]> {
    const csv = await readCsvTable(join(fixtures, file));
    return parties.map((columns, owner) => ({
      ids: idColumn(csv, "id"),
      featureNames: columns.map((column) => csv.names[columnIndex(csv, column)]),
      features: columns.map((column) => numericColumn(csv, columnIndex(csv, column), new Set())),
      labels: owner === 0 ? labelColumn(csv, columnIndex(csv, label)) : null,
    }));
  }

  test.each(["logistic", "squared"] as const)(
    "%s: the export is the same byte for byte, and predicts what XGBoost predicted",
    async (name) => {
      const { label, training } = goldens[name];
      const tables = await read("train.csv", label);
      const model = await train(tables, training);
      expect(`${xgboostText(xgboostModel(model, namesOf(tables)))}\n`).toBe(
        readFileSync(join(fixtures, `${name}.json`), "utf8"),
      );

      const rows = await read("score.csv", label);
      const margins = predictMargins(model, columnsOf(rows), rows[0].ids.length);
      const golden = await readCsvTable(join(fixtures, "predictions.csv"));
      expect(golden.columns[0]).toEqual(rows[0].ids);
      const theirs = (column: string): number[] => golden.columns[columnIndex(golden, column)].map(Number);
      expect(worstDifference(toPredictions(model, margins), theirs(name))).toBeLessThan(
        predictionTolerance(model.objective),
      );
      expect(worstDifference(margins, theirs(`${name} margin`))).toBeLessThan(1e-6);
    },
  );

  test("they have splits of every party, both default directions, and stay small", async () => {
    const tables = await read("train.csv", "loss");
    const rules = (await train(tables, goldens.squared.training)).trees
      .flat()
      .filter((node): node is SplitNode<SplitRule> => node.kind === "split")
      .map(({ rule }) => rule);
    expect(new Set(rules.map(({ owner }) => owner))).toEqual(new Set([0, 1, 2]));
    expect(new Set(rules.map(({ defaultLeft }) => defaultLeft))).toEqual(new Set([true, false]));
    const sizeBytes = readdirSync(fixtures, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { name }) => sum + statSync(join(fixtures, name)).size, 0);
    expect(sizeBytes).toBeLessThan(60_000);
  });

  test("tandem simulate --export: companies that train over TLS export the same file", async () => {
    const path = join(directory, "exported.json");
    const { exitCode, stderr } = await tandemHere(
      "simulate",
      "--data",
      join(fixtures, "train.csv"),
      "--test-data",
      join(fixtures, "score.csv"),
      "--id",
      "id",
      "--label",
      "defaulted",
      "--active",
      "#1,#2,#3",
      "--passive",
      "#4,#5",
      "--passive",
      "#6",
      "--num-round",
      "5",
      "--max-depth",
      "3",
      "--base-score",
      "0.3",
      "--max-bin",
      "16",
      "--insecure-key-bits",
      "256",
      "--quiet",
      "--json",
      "--export",
      path,
    );
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(readFileSync(join(fixtures, "logistic.json"), "utf8"));
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  });

  test.each([
    [
      "in a folder that does not exist",
      join(directory, "no", "model.json"),
      /no\/model\.json cannot be written: its folder is missing or not writable/,
    ],
    ["that is a folder", directory, /is a folder: name a file in it/],
  ])("a file %s is refused before training", async (_name, path, message) => {
    const { exitCode, stdout, stderr } = await tandemHere(
      "simulate",
      "--data",
      join(fixtures, "train.csv"),
      "--id",
      "id",
      "--label",
      "defaulted",
      "--passive",
      "age",
      "--export",
      path,
    );
    expect(exitCode).not.toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/FILE_UNWRITABLE/);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/tree 1|process \d/);
  });
});

const leaf = (weight: number, cover = 1) => ({ kind: "leaf", weight, cover, count: 1 }) as const;
const rule: SplitRule = { owner: 1, feature: 0, featureName: "usage", threshold: 1.5, defaultLeft: true };
const stump: Model = {
  objective: "binary:logistic",
  baseMargin: 0,
  trees: [[{ kind: "split", left: 1, right: 2, gain: 0.1, cover: 4, count: 4, rule }, leaf(-1, 1), leaf(0.5, 3)]],
};

describe("structure", () => {
  test("of a stump whose split is the second party's", () => {
    const { learner, version } = xgboostModel(stump, [["age", "income"], ["usage"]]);
    expect(version).toEqual([1, 7, 4]);
    expect(learner.feature_names).toEqual(["age", "income", "usage"]);
    expect(learner.learner_model_param).toEqual({
      base_score: "0.5",
      boost_from_average: "0",
      num_class: "0",
      num_feature: "3",
      num_target: "1",
    });
    expect(learner.objective).toEqual({ name: "binary:logistic", reg_loss_param: { scale_pos_weight: "1" } });
    expect(gbtreeOf(learner.gradient_booster).model.gbtree_model_param.num_trees).toBe("1");
    expect(gbtreeOf(learner.gradient_booster).model.trees).toEqual([
      {
        base_weights: [0.125, -1, 0.5],
        categories: [],
        categories_nodes: [],
        categories_segments: [],
        categories_sizes: [],
        default_left: [1, 0, 0],
        id: 0,
        left_children: [1, -1, -1],
        loss_changes: [Math.fround(0.1), 0, 0],
        parents: [2147483647, 0, 0],
        right_children: [2, -1, -1],
        split_conditions: [1.5, -1, 0.5],
        split_indices: [2, 0, 0],
        split_type: [0, 0, 0],
        sum_hessian: [4, 1, 3],
        tree_param: { num_deleted: "0", num_feature: "3", num_nodes: "3", size_leaf_vector: "0" },
      },
    ]);
  });

  test("floats have a point or an exponent, integers have none", () => {
    const text = xgboostText(xgboostModel(stump, [["age", "income"], ["usage"]]));
    expect(text).toContain('"sum_hessian":[4.0,1.0,3.0]');
    expect(text).toContain('"loss_changes":[0.1,0.0,0.0]');
    expect(text).toContain('"left_children":[1,-1,-1]');
    expect(JSON.parse(text)).toMatchObject({ version: [1, 7, 4] });
  });

  test("any float32 number survives its text, in at most 9 digits", () => {
    const random = new SeededRandom("float32 text");
    const bits = Uint32Array.from({ length: 20_000 }, () => random.uint32());
    const edges = [2 ** -149, (2 - 2 ** -23) * 2 ** 127, 2 ** 24, 2 ** 24 - 1, 1e9, 123456792, 1e-5, 0].map(
      Math.fround,
    );
    for (const value of [...new Float32Array(bits.buffer), ...edges].filter(Number.isFinite)) {
      const text = xgboostText(value);
      expect(Math.fround(Number(text))).toBe(value);
      expect(text).toMatch(/[.e]/);
      expect(text.replace(/e.*|\.0$|^-?0\.0*|\D/g, "").length).toBeLessThanOrEqual(9);
    }
    expect([0.3, 100, -0, 2 ** 100, 1e-7].map(Math.fround).map(xgboostText)).toEqual([
      "0.3",
      "1e+2",
      "0.0",
      "1.2676506e+30",
      "1e-7",
    ]);
  });

  test("a base_score that float32 cannot hold leaves its rest to the first tree, and only then", () => {
    const weights = (baseMargin: number): readonly number[] => {
      const trees = [stump.trees[0], stump.trees[0]];
      const { learner } = xgboostModel({ ...stump, baseMargin, trees }, [[], ["usage"]]);
      const exported = gbtreeOf(learner.gradient_booster).model.trees;
      expect(exported[1].split_conditions).toEqual([1.5, -1, 0.5]);
      return exported[0].split_conditions;
    };
    for (const probability of [0.5, 0.3, 0.01, 0.8])
      expect(weights(Math.log(probability / (1 - probability)))).toEqual([1.5, -1, 0.5]);
    const [threshold, ...leaves] = weights(Math.log(0.9999 / 0.0001));
    expect(threshold).toBe(1.5);
    expect(Math.abs(leaves[0] + 1)).toBeGreaterThan(1e-6);
    expect(leaves[1] - leaves[0]).toBeCloseTo(1.5, 6);
    expect(weights(30)[2]).toBeGreaterThan(10);
    expect(weights(-200)[2]).toBeLessThan(-100);
  });

  test("names of features that the model was not trained on are refused", async () => {
    await expectError(
      () => xgboostModel(stump, [["age"], ["income"]]),
      "USAGE",
      /'usage' in the model, is called 'income'/,
    );
    await expectError(() => xgboostModel(stump, [["usage"]]), "USAGE", /is not among the names/);
    await expectError(
      () => writeXgboostModel(join(directory, "no", "x.json"), stump, [[], ["usage"]]),
      "FILE_UNWRITABLE",
      /no\/x\.json/,
    );
  });

  test("a number that XGBoost cannot represent is an internal error", async () => {
    const withLeaf = (weight: number): Model => ({ ...stump, trees: [[leaf(weight)]] });
    for (const weight of [0.1, Number.NaN, Infinity])
      await expectError(() => xgboostModel(withLeaf(weight), [[]]), "INTERNAL", /float32/);
    const huge = { ...stump, trees: [[{ ...stump.trees[0][0], gain: 1e300 }, leaf(-1, 0), leaf(1, 0)]] } as Model;
    const [tree] = gbtreeOf(xgboostModel(huge, [[], ["usage"]]).learner.gradient_booster).model.trees;
    expect(tree.loss_changes[0]).toBe((2 - 2 ** -23) * 2 ** 127);
    expect(tree.base_weights[0]).toBe(0);
  });
});

describe("feature names", () => {
  const cases: [string, string[][], string[]][] = [
    ["stay as they are", [["age", "a b"], ['é:{,}="\\']], ["age", "a b", 'é:{,}="\\']],
    [
      "lose what XGBoost refuses or cannot read",
      [
        ["a[1]", "x<3"],
        ["tab\t\b\u0000\u007f", "\ud800!", "😀"],
      ],
      ["a_1_", "x_3", "tab____", "_!", "😀"],
    ],
    [
      "of two parties say whose they are",
      [["age", "b"], ["age"], ["c", "age"]],
      ["active.age", "b", "passive-1.age", "c", "passive-2.age"],
    ],
    ["that become the same at two parties too", [["x<"], ["x["]], ["active.x_", "passive-1.x_"]],
    ["twice at one party are numbered", [["a", "a", "a<", "a["], ["a_2"]], ["a", "a_3", "a_", "a__2", "a_2"]],
    [
      "prefixed into a name that exists",
      [["age", "active.age"], ["age"]],
      ["active.age", "active.age_2", "passive-1.age"],
    ],
  ];
  test.each(cases)("%s", (_name, features, wanted) => {
    const names = xgboostFeatureNames(features, ["active", "passive-1", "passive-2"]);
    expect(names).toEqual(wanted);
    expect(new Set(names).size).toBe(names.length);
  });

  test("the parties' own names", () => {
    const { learner } = xgboostModel({ ...stump, trees: [] }, [["age"], ["age"]], ["bank", "tele[com]"]);
    expect(learner.feature_names).toEqual(["bank.age", "tele_com_.age"]);
  });
});

const python = pythonWithXgboost();
if (python === undefined)
  console.log("xgboost-export: no python3 with xgboost here; fresh models are not compared, the golden files are");

interface FreshCase {
  readonly name: string;
  readonly model: Model;
  readonly exported: ReturnType<typeof xgboostModel>;
  readonly rows: Float32Array[][];
  readonly rowCount: number;
}

const oddNames = ["age", "x[0]<1", 'quote " and \\', "día, 日本", "tab\there", "age"];
/** One of each link; the others are written like one of these. */
const often: readonly ObjectiveName[] = [
  "binary:logistic",
  "reg:squarederror",
  "reg:pseudohubererror",
  "count:poisson",
  "multi:softprob",
];
const exportable = trainingParameters.objective.choices.filter((name) => objectiveFor(name).xgboost !== null);
const isKnown = (objective: ObjectiveName): boolean => xgboostMajor() >= Math.floor(Number(earliestXgboost(objective)));
const baseScores = [0.5, 0.03, 0.9, 0.9999, 1 - 1e-12, 1e-30];

async function freshCase(seed: number, objective: ObjectiveName): Promise<FreshCase> {
  const { kind } = objectiveFor(objective);
  const regression = kind !== "binary";
  const { labels: drawn, parties } = randomTable(`export-${seed}`, {
    rows: 150,
    features: [2, 3, 1],
    missingFraction: seed % 3 === 0 ? 0 : 0.15,
    ties: seed % 4 === 0,
    regression,
  });
  const labels =
    kind === "mean" || kind === "time"
      ? drawn.map((label) => Math.max(objective === "reg:gamma" ? 0.5 : 0, Math.round(label / 4)))
      : kind === "classes" || kind === "rank"
        ? drawn.map((label) => (label < -3 ? 0 : label < 3 ? 1 : 2))
        : kind === "fraction"
          ? drawn.map((label) => 1 / (1 + Math.exp(-label)))
          : drawn;
  const groups = { qid: drawn.map((_, row) => row % 9) };
  const columns =
    kind === "rank"
      ? groups
      : kind === "time"
        ? { label_upper_bound: drawn.map((_, row) => (row % 3 === 0 ? Infinity : 100)) }
        : {};
  const more =
    kind === "classes"
      ? ({ num_class: 3, multi_strategy: seed % 2 === 0 ? "multi_output_tree" : "one_output_per_tree" } as const)
      : { quantile_alpha: seed % 2 === 0 ? [0.2, 0.7] : [0.4] };
  const tables = parties.map((features, owner): PartyTable => ({
    ids: Array.from(labels, (_, i) => `id-${i}`),
    featureNames: features.map((_, i) => oddNames[(owner * 2 + i + seed) % oddNames.length]),
    features: [...features],
    labels: owner === 0 ? labels : null,
    ...(owner === 0 ? { rowColumns: columns } : {}),
  }));
  const base_score =
    kind === "mean" || kind === "time" || kind === "hazard"
      ? [0.5, 1e-3, "auto" as const][seed % 3]
      : kind === "classes"
        ? 0.5
        : kind === "number" || kind === "quantile" || kind === "rank"
          ? [0.1, -3.7, 1000.3][seed % 3]
          : baseScores[seed % baseScores.length];
  const model = await train(tables, {
    objective,
    base_score,
    num_round: 6,
    max_depth: 1 + (seed % 5),
    min_child_weight: 0,
    eta: 0.4,
    ...(seed % 3 === 1 && objectiveFor(objective).leafQuantiles === undefined
      ? { num_parallel_tree: 2, subsample: 0.7, num_round: 3 }
      : {}),
    ...more,
  });
  const rows = unseenRows(parties, model, new SeededRandom(`unseen-${seed}`));
  return {
    name: `${objective} ${seed}`,
    model,
    exported: xgboostModel(model, namesOf(tables)),
    rows,
    rowCount: rows[0][0].length,
  };
}

/**
 * The training rows, then rows of thresholds (the boundary itself), float32 neighbours, huge values and gaps; one of
 * gaps only.
 */
function unseenRows(
  parties: readonly (readonly Float32Array[])[],
  model: Model,
  random: SeededRandom,
): Float32Array[][] {
  const thresholds = model.trees
    .flat()
    .flatMap((node) => (node.kind === "split" && node.rule.threshold !== undefined ? [node.rule.threshold] : []));
  const values = [
    ...thresholds,
    ...thresholds.map((value) => Math.fround(value * (1 - 2 ** -24))),
    1e30,
    -1e30,
    0,
    Number.NaN,
    Number.NaN,
  ];
  return parties.map((columns) =>
    columns.map((column) =>
      Float32Array.of(...column, ...Array.from({ length: 150 }, () => values[random.below(values.length)]), Number.NaN),
    ),
  );
}

function askAbout(cases: readonly FreshCase[]): Scored[] {
  const folder = join(directory, "fresh");
  mkdirSync(folder);
  return askXgboost(
    cases.map(({ exported, rows, rowCount }, i) => {
      const path = join(folder, `${i}.json`);
      writeFileSync(path, xgboostText(exported));
      return { model: path, columns: rows.flat(), rowCount };
    }),
  );
}

/** A model with categories at both parties, and rows with categories that it has never seen and missing ones. */
async function categoricalCase(seed: number, more: Partial<TrainingParameters>) {
  const {
    labels,
    parties,
    categories = [],
  } = categoricalTable(`export ${seed}`, {
    rows: 150,
    features: [1, 1],
    categories: [
      [5, 2],
      [12, 3],
    ],
    missingFraction: 0.1,
  });
  const tables = parties.map((features, owner): PartyTable => {
    const featureNames = features.map((_, i) => `p${owner}f${i}`);
    return {
      ids: Array.from(labels, (_, i) => String(i)),
      featureNames,
      features: [...features],
      labels: owner === 0 ? labels : null,
      categories: Object.fromEntries(
        featureNames.flatMap((name, i) => {
          const names = categories[owner][i];
          return names === null ? [] : [[name, { names, where: "" }]];
        }),
      ),
    };
  });
  const model = await train(tables, {
    num_round: 5,
    max_depth: 4,
    min_child_weight: 0,
    enable_categorical: true,
    ...more,
  });
  const exported = xgboostModel(model, namesOf(tables));
  const names = categories.map((own) => own.map((given) => given && [...given, "never seen", "nor this"]));
  const random = new SeededRandom(`categories of ${seed}`);
  const rows = parties.map((columns, owner) =>
    columns.map((column, i) =>
      Float32Array.of(
        ...column,
        ...Array.from({ length: 60 }, () =>
          random.uniform() < 0.2 ? Number.NaN : random.below(names[owner][i]?.length ?? 9),
        ),
      ),
    ),
  );
  return { model, exported, names, rows, rowCount: rows[0][0].length };
}

describe.skipIf(python === undefined)("XGBoost itself", () => {
  test("loads models with categories, by the codes in them, and sends every row to the same leaves", async () => {
    const cases = await Promise.all(
      [{}, { max_cat_to_onehot: 20 }, { max_cat_to_onehot: 1, objective: "reg:squarederror" as const }].map(
        (more, seed) => categoricalCase(seed, more),
      ),
    );
    const folder = join(directory, "categories");
    mkdirSync(folder);
    const scored = askXgboost(
      cases.map(({ exported, names, rows, rowCount }, i) => {
        const path = join(folder, `${i}.json`);
        writeFileSync(path, xgboostText(exported));
        const codes = JSON.parse(exported.learner.attributes["categories"]) as Record<string, string[]>;
        // As docs/models.md describes: a category's place in the list, and any number beyond it for one that is
        // not in there.
        const coded = rows.flatMap((columns, owner) =>
          columns.map((column, f) => {
            const given = names[owner][f];
            const known = codes[`p${owner}f${f}`] ?? [];
            return given === null
              ? column
              : column.map((code) =>
                  Number.isNaN(code)
                    ? NaN
                    : known.includes(given[code])
                      ? known.indexOf(given[code])
                      : known.length + (code % 40),
                );
          }),
        );
        return { model: path, columns: coded, rowCount };
      }),
    );
    cases.forEach(({ model, exported, names, rows, rowCount }, i) => {
      // The type of a feature without splits does not matter.
      const asked = new Set(
        model.trees
          .flat()
          .flatMap((node) =>
            node.kind === "split" && node.rule.categories !== undefined
              ? [3 * node.rule.owner + node.rule.feature]
              : [],
          ),
      );
      expect(exported.learner.feature_types).toEqual(
        Array.from({ length: 6 }, (_, feature) => (asked.has(feature) ? "c" : "float")),
      );
      expect(asked.size).toBeGreaterThan(2);
      expect(
        gbtreeOf(exported.learner.gradient_booster).model.trees.flatMap(({ categories_nodes }) => categories_nodes)
          .length,
      ).toBeGreaterThan(10);
      const leaves = Array.from({ length: rowCount }, (_, row) =>
        model.trees.map((tree) =>
          leafOf(tree, (rule) =>
            valueGoesLeft(rule, rows[rule.owner][rule.feature][row], names[rule.owner][rule.feature]),
          ),
        ),
      );
      expect(scored[i].leaves, `case ${i}`).toEqual(leaves);
      expect(
        worstDifference(toPredictions(model, predictMargins(model, rows, rowCount, names)), scored[i].predictions),
      ).toBeLessThan(predictionTolerance(model.objective));
    });
  });

  test("objectives of exp with margins of 10: to 1e-5, but not to 1e-6", () => {
    const objectives = ["reg:gamma", "survival:aft"] as const;
    const random = new SeededRandom("large margins");
    const rowCount = 50;
    const columns = [Float32Array.from({ length: rowCount }, () => random.normal())];
    const trees = Array.from({ length: 200 }, (): Model["trees"][number] => {
      const split = {
        owner: 0,
        feature: 0,
        featureName: "x",
        threshold: Math.fround(random.normal()),
        defaultLeft: true,
      };
      const weight = (): number => Math.fround(random.normal() / 50);
      return [
        { kind: "split", left: 1, right: 2, gain: 1, cover: 2, count: 2, rule: split },
        leaf(weight()),
        leaf(weight()),
      ];
    });
    const models = objectives.map((objective): Model => ({ objective, baseMargin: 10, trees }));
    const scored = askXgboost(
      models.map((model, i) => {
        const path = join(directory, `margins-${i}.json`);
        writeFileSync(path, xgboostText(xgboostModel(model, [["x"]])));
        return { model: path, columns, rowCount };
      }),
    );
    for (const [i, model] of models.entries()) {
      const ours = toPredictions(model, predictMargins(model, [columns], rowCount));
      const difference = worstDifference(ours, scored[i].predictions);
      expect(difference, model.objective).toBeGreaterThan(1e-6);
      expect(difference, model.objective).toBeLessThan(predictionTolerance(model.objective));
    }
  });

  test.runIf(xgboostMajor() === 1)(
    "1.7 refuses the files that are said to need a later one, and no others",
    async () => {
      const paths = exportable.map((objective) => join(directory, `${objective.replace(":", "-")}.json`));
      for (const [i, objective] of exportable.entries())
        writeFileSync(paths[i], xgboostText((await freshCase(0, objective)).exported));
      const load = `
import sys, xgboost
for path in sys.argv[1:]:
    try:
        xgboost.Booster(model_file=path)
        print("loaded")
    except xgboost.core.XGBoostError as error:
        print("unknown" if "Unknown objective function" in str(error) else "another error")
`;
      const { stdout } = spawnSync(python ?? "", ["-c", load, ...paths], { encoding: "utf8" });
      expect(stdout.trim().split("\n")).toEqual(
        exportable.map((objective) => (isKnown(objective) ? "loaded" : "unknown")),
      );
    },
  );

  test("loads fresh models, sends every row to the same leaves, and predicts the same", async () => {
    const cases = await Promise.all(
      exportable
        .filter(isKnown)
        .flatMap((objective) =>
          Array.from(
            { length: seedCount(often.includes(objective) ? { test: 3, campaign: 12 } : { test: 1, campaign: 2 }) },
            (_, seed) => freshCase(seed, objective),
          ),
        ),
    );
    const scored = askAbout(cases);
    let worst = 0;
    cases.forEach(({ name, model, exported, rows, rowCount }, i) => {
      const theirs = scored[i];
      expect(theirs.features, name).toEqual(exported.learner.feature_names);
      expect(theirs.conditions, name).toEqual(
        gbtreeOf(exported.learner.gradient_booster).model.trees.map(({ split_conditions }) => split_conditions),
      );
      const leaves = Array.from({ length: rowCount }, (_, row) =>
        model.trees.flatMap((tree) => {
          const leaf = leafOf(tree, (rule) => valueGoesLeft(rule, rows[rule.owner][rule.feature][row]));
          const isVector = tree.some((node) => node.kind === "leaf" && node.weights !== undefined);
          return isVector ? [leaf, leaf, leaf] : [leaf]; // XGBoost has a tree per class
        }),
      );
      expect(theirs.leaves, name).toEqual(leaves);
      const difference = worstDifference(
        toPredictions(model, predictMargins(model, rows, rowCount)),
        theirs.predictions,
      );
      expect(difference, name).toBeLessThan(predictionTolerance(model.objective));
      worst = Math.max(worst, difference);
    });
    console.log(
      `xgboost-export: ${cases.length} fresh models in ${python}'s XGBoost, ` +
        `largest difference ${worst.toExponential(1)}`,
    );
  });
});
