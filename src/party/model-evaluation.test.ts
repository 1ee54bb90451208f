/** The evaluation of every kind of labels: it is a valid line of a record, has tables and sentences, and no row. */
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../base/random.ts";
import type { RowColumns } from "../base/rows/row-columns.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { auc } from "../gbdt/metric/auc-metrics.ts";
import type { ObjectiveName } from "../gbdt/objective/objectives.ts";
import { trainingParameters, type TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { TrainingRows } from "../gbdt/rows/training-rows.ts";
import type { ModelEvaluation } from "../record/evaluation/evaluation.ts";
import { evaluationSentences, figureText, percentText, stabilityRows } from "../record/evaluation/facts.ts";
import { cellText } from "../record/evaluation/table.ts";
import { evaluationTables } from "../record/evaluation/tables.ts";
import { usualTerms } from "../record/evaluation/terms.ts";
import { isOwnLine } from "../record/own-lines.ts";
import { evaluateModel } from "./model-evaluation.ts";

const count = 240;
const random = new SeededRandom("model evaluation");
const signal = Float64Array.from({ length: count }, () => random.normal());
const noisy = (scale: number): Float64Array => signal.map((value) => value + scale * random.normal());

interface Kind {
  readonly objective: ObjectiveName;
  readonly labels: Float64Array;
  readonly margins?: Float64Array;
  readonly columns?: RowColumns;
  readonly parameters?: Partial<TrainingParameters>;
  readonly tables: readonly string[];
}

const aboveZero = noisy(1).map((value) => Number(value > 0));
const ofBinary = ["summary", "decisions", "deciles", "calibration", "scorecard", "precision-recall", "stability"];
const withoutProbability = ofBinary.filter((name) => name !== "calibration" && name !== "scorecard");
const times = signal.map((value) => Math.exp(1 - value + 0.3 * random.normal()));
const kinds: readonly Kind[] = [
  { objective: "binary:logistic", labels: aboveZero, tables: ofBinary },
  { objective: "binary:logitraw", labels: aboveZero, tables: ofBinary },
  { objective: "binary:hinge", labels: aboveZero, tables: withoutProbability },
  {
    objective: "multi:softprob",
    parameters: { num_class: 3 },
    labels: signal.map((value) => (value > 0.5 ? 2 : value > -0.5 ? 1 : 0)),
    margins: Float64Array.from({ length: 3 * count }, (_, i) => signal[Math.floor(i / 3)] * ((i % 3) - 1)),
    tables: ["summary", "classes", "confusion"],
  },
  {
    objective: "reg:squarederror",
    labels: noisy(0.5),
    tables: ["summary", "deciles", "residuals", "stability"],
  },
  {
    objective: "count:poisson",
    labels: signal.map((value) => Math.floor(Math.exp(value))),
    tables: ["summary", "deciles", "residuals", "stability"],
  },
  {
    objective: "reg:quantileerror",
    parameters: { quantile_alpha: [0.1, 0.9] },
    labels: noisy(0.5),
    margins: Float64Array.from({ length: 2 * count }, (_, i) => signal[i >> 1] + (i % 2 === 0 ? -0.6 : 0.6)),
    tables: ["summary", "quantiles"],
  },
  {
    objective: "survival:cox",
    labels: times.map((time, row) => (row % 4 === 0 ? -time : time)),
    tables: ["summary", "horizons", "stability"],
  },
  {
    objective: "survival:aft",
    labels: times,
    margins: signal.map((value) => 1 - value),
    columns: { label_upper_bound: times.map((time, row) => (row % 4 === 0 ? Infinity : time)) },
    tables: ["summary", "horizons", "stability"],
  },
  {
    objective: "rank:ndcg",
    labels: signal.map((value) => Math.max(0, Math.round(value + 1))),
    columns: { qid: signal.map((_, row) => Math.floor(row / 8)) },
    tables: ["summary", "group-sizes", "stability"],
  },
];

const parametersOf = ({ objective, parameters }: Kind): TrainingParameters => ({
  ...resolveParameters(trainingParameters, { objective }),
  ...parameters,
});

function evaluated(kind: Kind, alone: Float64Array | null = null): Promise<ModelEvaluation> {
  const rows = new TrainingRows(kind.labels, { columns: kind.columns });
  const margins = kind.margins ?? signal;
  const parts = [
    { part: "training" as const, margins, rows },
    { part: "test" as const, margins, rows },
  ];
  return evaluateModel(parametersOf(kind), parts, alone, { now: 1000 });
}

describe.each(kinds)("$objective", (kind) => {
  test("is a line of a record, and the same after it was stored", async () => {
    const evaluation = await evaluated(kind, kind.margins ?? signal.map((value, row) => value + Math.sin(row)));
    const stored: unknown = JSON.parse(JSON.stringify({ kind: "evaluation", evaluation }));
    expect(isOwnLine(stored)).toBe(true);
    expect(stored).toEqual({ kind: "evaluation", evaluation });
    const [training, shown] = evaluation.parts;
    expect(training.estimates.map(({ name, value }) => [name, value])).toEqual(
      shown.estimates.map(({ name, value }) => [name, value]),
    );
    for (const { low, high, value } of shown.estimates) {
      expect(low).toBeLessThanOrEqual(value ?? -Infinity);
      expect(high).toBeGreaterThanOrEqual(value ?? Infinity);
    }
    for (const row of stabilityRows(evaluation)) expect(row).toMatchObject({ from: "training", to: "test", index: 0 });
  });

  test("has its tables and sentences, all of it readable", async () => {
    const evaluation = await evaluated(kind);
    const tables = evaluationTables(evaluation, usualTerms);
    expect(tables.map(({ name }) => name)).toEqual(kind.tables);
    const cells = tables.flatMap(({ rows, columns }) =>
      rows.flatMap((row) => {
        expect(row).toHaveLength(columns.length);
        return row.map((cell, i) => cellText(cell, columns[i]));
      }),
    );
    const sentences = evaluationSentences(evaluation, "retailer");
    expect(sentences.length).toBeGreaterThan(1);
    expect([...cells, ...sentences].join("\n")).not.toMatch(/NaN|Infinity|undefined|null/);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});

test("the gain over the own columns alone is the difference of both, and better is positive", async () => {
  const [binary, , , , numbers] = kinds;
  const worse = signal.map((value, row) => value + 2 * Math.sin(row));
  const ofBinary = await evaluated(binary, worse);
  const gain = ofBinary.federation?.gain;
  expect(gain?.name).toBe("auc");
  expect(gain?.value).toBeCloseTo(auc(signal, binary.labels) - auc(worse, binary.labels), 12);
  expect(gain?.low).toBeGreaterThan(0);
  expect(evaluationSentences(ofBinary, "retailer").join(" ")).toMatch(
    /with the columns of retailer the AUC is 0\.\d+ higher than 0\.\d+/,
  );
  const ofNumbers = await evaluated(numbers, worse);
  expect(ofNumbers.federation?.gain).toMatchObject({ name: "rmse" });
  expect(ofNumbers.federation?.gain.value).toBeGreaterThan(0);
  expect(evaluationSentences(ofNumbers, "retailer").join(" ")).toMatch(/the RMSE is \d\.\d+ lower than/);
  const none = await evaluated(binary, signal);
  expect(none.federation?.gain).toMatchObject({ value: 0, low: 0, high: 0 });
  expect(evaluationSentences(none, "retailer").join(" ")).toContain("it may be nothing");
});

test("label 1 is said to be what the config says, with its rate", async () => {
  const [binary, , , classes] = kinds;
  const rows = new TrainingRows(binary.labels);
  const of = async (label: ModelEvaluation["label"]): Promise<string> => {
    const parts = [{ part: "test" as const, margins: signal, rows }];
    const evaluation = await evaluateModel(parametersOf(binary), parts, null, { label });
    expect(isOwnLine(JSON.parse(JSON.stringify({ kind: "evaluation", evaluation })))).toBe(true);
    return evaluationSentences(evaluation, "retailer")[0];
  };
  const rate = `${((100 * aboveZero.reduce((sum, label) => sum + label, 0)) / count).toPrecision(3)}% of the test rows`;
  expect(await of(undefined)).toContain(`Label 1 is the event that the model predicts. ${rate} have it`);
  expect(await of({ column: "paid" })).toContain("predicts: column 'paid' is 1.");
  expect(await of({ column: "paid", positive: "late" })).toContain("predicts: column 'paid' is late.");
  expect(evaluationSentences(await evaluated(classes), "retailer").join(" ")).not.toContain("Label 1");
});

test("figures of a column have as many digits as each other", () => {
  expect([0.53, 0.487, 0.097, 2.98, 1, 0].map(figureText)).toEqual(["0.530", "0.487", "0.0970", "2.980", "1.000", "0"]);
  expect([12345.6, 1e-9].map(figureText)).toEqual(["12350", "1e-9"]);
  expect([0.65, 0.096, 1, 0].map(percentText)).toEqual(["65.0%", "9.60%", "100%", "0%"]);
});

test("later rows are compared with the stored scores of the training rows", async () => {
  const [binary] = kinds;
  const { stability } = await evaluated(binary);
  const rows = new TrainingRows(binary.labels);
  const shifted = signal.map((value) => value + 2);
  const later = await evaluateModel(parametersOf(binary), [{ part: "new", margins: shifted, rows }], null, {
    reference: stability,
  });
  expect(stabilityRows(later)).toMatchObject([{ from: "training", to: "new", words: "large shift" }]);
});

test("rows of one class have no AUC and no interval, and are still described", async () => {
  const [binary] = kinds;
  const evaluation = await evaluated({ ...binary, labels: new Float64Array(count) });
  expect(evaluation.parts[1].estimates[0]).toEqual({ name: "auc", value: null, low: null, high: null });
  expect(isOwnLine(JSON.parse(JSON.stringify({ kind: "evaluation", evaluation })))).toBe(true);
  expect(evaluationTables(evaluation, usualTerms).length).toBeGreaterThan(3);
});
