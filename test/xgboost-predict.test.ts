/**
 * Every output of XGBoost's predict, as a model between parties gives it, against XGBoost with the exported model:
 * always against golden files (test/fixtures/xgboost-predict/README.md), and against XGBoost where python3 has it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { slicedModel } from "../src/gbdt/tree/iterations.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { predictLeaves } from "../src/gbdt/tree/predict.ts";
import { Scorer } from "../src/scoring/scorer.ts";
import { ScoringModel } from "../src/scoring/scoring-model.ts";
import type { OutputKind } from "../src/scoring/wanted.ts";
import { xgboostModel } from "../src/store/xgboost/export.ts";
import { xgboostText } from "../src/store/xgboost/text.ts";
import { scratchDirectory } from "./support/command.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { trainInOnePlace } from "./support/in-memory-job.ts";
import { rowsOf, sharesOf, TablePeer } from "./support/scored-model.ts";
import { randomTable } from "./support/tables.ts";
import { pythonWithXgboost } from "./support/xgboost.ts";
import { type TestTable } from "./world/simulated.ts";

interface Answer {
  readonly margins: number[];
  readonly predictions: number[];
  readonly leaves: number[];
  readonly contributions: number[];
}

interface Case {
  readonly table: TestTable;
  readonly training: Partial<TrainingParameters>;
  readonly ranges: readonly (readonly [number, number])[];
}

const shape = { rows: 60, features: [2, 2, 3], missingFraction: 0.1 };
/** Scored instances: golden files stay small. */
const scored = 16;
const all = [0, 0] as const;
const cases: Readonly<Record<string, Case>> = {
  logistic: {
    table: randomTable("predict", shape),
    training: { num_round: 5, max_depth: 4, base_score: 0.3 },
    ranges: [all, [0, 2], [1, 4], [3, 5]],
  },
  squared: {
    table: randomTable("regression", { ...shape, regression: true }),
    training: { objective: "reg:squarederror", num_round: 4, max_depth: 6, base_score: 2 },
    ranges: [all, [0, 1]],
  },
  softprob: {
    table: classes(randomTable("classes", { ...shape, regression: true })),
    training: { objective: "multi:softprob", num_class: 3, num_round: 3, max_depth: 3 },
    ranges: [all, [0, 1], [1, 3]],
  },
  categorical: {
    table: categoricalTable("predict", { ...shape, categories: [[4], [9], [3]] }),
    training: { num_round: 4, max_depth: 4, enable_categorical: true, max_cat_to_onehot: 4 },
    ranges: [all],
  },
  dart: {
    table: randomTable("dart", shape),
    training: { booster: "dart", rate_drop: 0.5, one_drop: true, num_round: 5, base_score: 0.9999 },
    ranges: [all, [0, 2]], // what float32 cannot hold of base_score stands in the first tree
  },
  "dart, softprob": {
    table: classes(randomTable("dart classes", { ...shape, regression: true })),
    training: {
      booster: "dart",
      rate_drop: 0.5,
      normalize_type: "forest",
      objective: "multi:softprob",
      num_class: 3,
      num_round: 3,
      multi_strategy: "one_output_per_tree",
    },
    ranges: [all, [0, 1], [1, 3]],
  },
};

function classes(table: TestTable): TestTable {
  const ordered = [...table.labels].sort((a, b) => a - b);
  const [low, high] = [ordered[20], ordered[40]];
  return { ...table, labels: table.labels.map((label) => (label < low ? 0 : label < high ? 1 : 2)) };
}

const goldenPath = fileURLToPath(new URL("fixtures/xgboost-predict/golden.json", import.meta.url));
const writesGoldens = process.env.TANDEM_GOLDENS;
const python = writesGoldens ?? pythonWithXgboost();
const directory = scratchDirectory();

interface Prepared {
  readonly model: Model;
  readonly text: string;
  readonly names: readonly string[][];
}

const prepared = new Map<string, Prepared>();
const live = new Map<string, Answer[]>();
let key: PrivateKey;

beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
  for (const [name, { table, training }] of Object.entries(cases)) {
    const model = await trainInOnePlace({ table, training, key });
    const names = table.parties.map((columns, party) => columns.map((_, i) => `p${party}f${i}`));
    prepared.set(name, { model, names, text: `${xgboostText(xgboostModel(model, names))}\n` });
  }
  if (python !== undefined) askLive(python);
});

function askLive(program: string): void {
  const jobs = Object.entries(cases).map(([name, { table, ranges }]) => {
    const path = join(directory, `${name}.json`);
    const { text } = of(name);
    writeFileSync(path, text);
    return { model: path, rows: xgboostRows(table, text), ranges };
  });
  const script = fileURLToPath(new URL("fixtures/xgboost-predict/predict.py", import.meta.url));
  const { status, stdout, stderr } = spawnSync(program, ["-B", script], {
    input: JSON.stringify(jobs),
    encoding: "utf8",
    maxBuffer: 1 << 27,
  });
  expect([status, status === 0 ? "" : stderr]).toEqual([0, ""]);
  const { version, answers } = JSON.parse(stdout) as { version: string; answers: Answer[][] };
  Object.keys(cases).forEach((name, i) => live.set(name, answers[i]));
  if (writesGoldens === undefined) return;
  const models = Object.keys(cases).map((name) => [name, { sha256: digestOf(of(name).text), answers: live.get(name) }]);
  const golden = { version, models: Object.fromEntries(models) as unknown };
  const float32Digits = (_: string, value: unknown): unknown =>
    typeof value === "number" ? Number(value.toPrecision(9)) : value;
  writeFileSync(goldenPath, `${JSON.stringify(golden, float32Digits)}\n`);
}

function of(name: string): Prepared {
  const found = prepared.get(name);
  if (found === undefined) throw new Error(`no such case: ${name}`);
  return found;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** All parties' columns side by side; categories as the exported model's codes. */
function xgboostRows({ labels, parties, categories }: TestTable, text: string): (number | null)[][] {
  const { learner } = JSON.parse(text) as { learner: { attributes: { categories?: string } } };
  const codes = JSON.parse(learner.attributes.categories ?? "{}") as Record<string, string[]>;
  const columns = parties.flatMap((party, p) =>
    party.map((column, i) => {
      const [names, known] = [categories?.[p][i] ?? null, codes[`p${p}f${i}`] ?? []];
      if (names === null) return column;
      return column.map((code) => {
        const place = Number.isNaN(code) ? Number.NaN : known.indexOf(names[code]);
        return place === -1 ? known.length : place;
      });
    }),
  );
  return Array.from(labels.subarray(0, scored), (_, row) =>
    columns.map((column) => (Number.isNaN(column[row]) ? null : column[row])),
  );
}

async function ours(name: string, kind: OutputKind, [begin, end]: readonly [number, number]): Promise<number[]> {
  const { table } = cases[name];
  const { activeShare, passiveShares } = sharesOf(of(name).model, table.parties.length - 1);
  const scorer = new Scorer(
    activeShare,
    passiveShares.map((share, i) => new TablePeer(share, table, i + 1)),
  );
  const { ids, columns } = rowsOf(scorer, table);
  const rows = { ids: ids.slice(0, scored), columns: columns.map((column) => column.subarray(0, scored)) };
  const { predictions } = await scorer.score(rows, {
    unknownAsMissing: false,
    timeoutMs: 10_000,
    wanted: { kind, iterations: { begin, end } },
  });
  return Array.from(predictions);
}

/** Leaves by the library, where one has all columns and rules. */
function inOnePlace(name: string, [begin, end]: readonly [number, number]): number[] {
  const { table } = cases[name];
  const { model } = of(name);
  const { parties, categories, labels } = table;
  const sliced = slicedModel(model, { begin, end });
  return Array.from(predictLeaves(sliced, parties, labels.length, categories)).slice(0, scored * sliced.trees.length);
}

/** XGBoost's values as ours stand: own features that the model asks, a total per passive party, the bias. */
function byOwner(name: string, contributions: readonly number[]): number[] {
  const { parties } = cases[name].table;
  const { activeShare } = sharesOf(of(name).model, parties.length - 1);
  const own = new ScoringModel(activeShare).features.map((feature) => Number(feature.replace("p0f", "")));
  const firsts = parties.map((_, party) => parties.slice(0, party).flat().length);
  const width = parties.flat().length + 1;
  const rows = Array.from({ length: contributions.length / width }, (_, i) =>
    contributions.slice(i * width, (i + 1) * width),
  );
  return rows.flatMap((row) => [
    ...own.map((feature) => row[feature]),
    ...parties.slice(1).map((columns, i) => sumOf(row.slice(firsts[i + 1], firsts[i + 1] + columns.length))),
    row[width - 1],
  ]);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** XGBoost computes in float32. */
function worst(mine: readonly number[], theirs: readonly number[]): number {
  expect(mine).toHaveLength(theirs.length);
  return Math.max(...mine.map((value, i) => Math.abs(value - theirs[i]) / Math.max(1, Math.abs(theirs[i]))));
}

async function compare(name: string, answers: readonly Answer[] | undefined): Promise<void> {
  const { ranges } = cases[name];
  expect(answers).toHaveLength(ranges.length);
  for (const [i, range] of ranges.entries()) {
    const { margins, predictions, leaves, contributions } = (answers ?? [])[i];
    expect(worst(await ours(name, "margin", range), margins)).toBeLessThan(2e-6);
    expect(worst(await ours(name, "prediction", range), predictions)).toBeLessThan(2e-6);
    expect(await ours(name, "leaf", range)).toEqual(leaves);
    const grouped = byOwner(name, contributions);
    const values = await ours(name, "contributions", range);
    expect(worst(values, grouped)).toBeLessThan(1e-5);
    const { length: outputs } = margins;
    const sums = margins.map((_, i) =>
      sumOf(values.slice((i * values.length) / outputs, ((i + 1) * values.length) / outputs)),
    );
    expect(worst(sums, await ours(name, "margin", range))).toBeLessThan(1e-12);
    expect(inOnePlace(name, range)).toEqual(leaves);
  }
}

test("a passive party's total over its features differs from its value as one feature", async () => {
  const differs = async (name: string): Promise<boolean> => {
    const [one, other] = [await ours(name, "contributions", all), await ours(name, "party_contributions", all)];
    return worst(one, other) > 1e-3;
  };
  expect(await Promise.all(Object.keys(cases).map(differs))).toEqual(Object.keys(cases).map(() => true));
});

describe.each(Object.keys(cases))("%s: margins, predictions and leaves, of all rounds and of some", (name) => {
  test("as golden files have them", async () => {
    const { models } = JSON.parse(readFileSync(goldenPath, "utf8")) as {
      models: Record<string, { sha256: string; answers: Answer[] }>;
    };
    expect(models[name].sha256, "the model is another one: make the golden files again").toBe(digestOf(of(name).text));
    await compare(name, models[name].answers);
  });

  test.skipIf(python === undefined)("as XGBoost has them now", async () => {
    expect(live.has(name)).toBe(true);
    await compare(name, live.get(name));
  });
});
