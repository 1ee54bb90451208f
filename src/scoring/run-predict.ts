/** `tandem predict`: scores of the ids in a file, with a stored model. */
import { noConstraints } from "../data/feature-constraints.ts";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { computedTexts, textAt, type TextList, textsBetween } from "../base/text/text-list.ts";
import { predictionColumns } from "../data/prediction-columns.ts";
import type { ContributionSummary } from "../record/contribution-facts.ts";
import { writeCsv } from "../data/write-csv.ts";
import { categoryNamesPerFeature } from "../data/dataset.ts";
import { selectMargins } from "../gbdt/boost/boosting-monitor.ts";
import { classCutOff } from "../gbdt/objective/objectives.ts";
import { inModelCodes } from "./scoring-model.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import type { DataConfig } from "../party/config/data-config.ts";
import { findActiveShare } from "../party/model/find-share.ts";
import { type DistinctTable, type FileTable, readPartyTable } from "../party/tables/party-data.ts";
import type { DriftSummary } from "../record/drift-facts.ts";
import { driftOf } from "./drift/file-drift.ts";
import type { WantedColumns } from "./features/row-source.ts";
import { Scorer } from "./scorer.ts";
import type { ScoringOptions, ScoringRows } from "./scoring-question.ts";
import { keepContributions, meanContributions } from "./mean-contributions.ts";
import { isExplanation, predictionWanted, type Wanted } from "./wanted.ts";

export const unknownRules = ["refuse", "skip", "missing"] as const;
/**
 * For ids that a passive party does not hold: fail, leave them out, or score them as missing.
 */
export type UnknownRule = (typeof unknownRules)[number];

export interface PredictOptions {
  /** A job's name, or the folder of one. */
  readonly model: string;
  readonly input: string;
  readonly output: string;
  readonly unknown: UnknownRule;
  /** Predictions, unless something else is asked for. */
  readonly wanted?: Wanted;
  readonly onProgress: (done: number, total: number) => void;
}

export interface PredictResult {
  readonly job: string;
  readonly model: string;
  readonly rows: number;
  readonly scored: number;
  /** Per party, how many of the input's ids it does not hold. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Where scores were explained: mean contributions. */
  readonly contributions?: ContributionSummary;
  /** How far the people of the input are from those of the training; left out where that is not known. */
  readonly drift?: DriftSummary;
}

/** Rows per batch; a party that answers fewer at once gets more batches. */
const batchRows = 10_000;
/** How long a party may be lost during scoring. */
const batchTimeoutMs = 60_000;
const firstTimeoutMs = 10_000;

/** @throws TandemError; the output is written as a whole at the end, or not at all */
export async function runPredict(config: ActiveConfig, options: PredictOptions): Promise<PredictResult> {
  const share = await findActiveShare(options.model, config);
  const scorer = await Scorer.connect(config, share);
  try {
    const { wanted = predictionWanted } = options;
    const { names: titles, perRow } = scorer.outputs(wanted);
    // The label is not needed.
    const data = inputData(config.data, scorer);
    const rows = await readPartyTable({ path: options.input }, data, null, { text: "as trained" });
    requireBaseMargins(options.input, rows, scorer);
    for (const { trouble } of await scorer.ready(firstTimeoutMs)) if (trouble !== null) throw trouble;
    const asked = askedRows(scorer, rows);
    const { predictions, unknown } = await scoreAll(scorer, asked, options, config.tell_contributions);
    if (options.unknown === "refuse" && unknown.size > 0) throw unknownRefusal(options.input, rows, unknown);
    const { ids } = rows.table;
    const kept = Uint32Array.from({ length: ids.length }, (_, row) => row).filter(
      (row) => options.unknown === "missing" || !unknown.has(row),
    );
    const values = selectMargins(predictions, kept, perRow);
    const texts = (at: (i: number) => string): TextList => computedTexts(kept.length, at);
    const { names, columns } =
      wanted.kind === "prediction"
        ? predictionColumns(classCutOff(share.objective), values, kept.length, share.classes ?? null)
        : { names: titles, columns: titles.map((_, k) => texts((i) => String(values[i * perRow + k]))) };
    await writeCsv(options.output, ["id", ...names], [texts((i) => textAt(ids, kept[i])), ...columns], {
      mode: 0o600,
      atomic: true,
    });
    const summary = explained(scorer, wanted, predictions, kept);
    const folder = join(config.output.directory, share.job);
    if (summary !== null) keepContributions(folder, summary);
    const drift = await driftOf(folder, scorer, wanted, { columns: asked.columns, predictions, rows: kept });
    return {
      job: share.job,
      model: share.model,
      rows: rows.table.ids.length,
      scored: kept.length,
      unknown: countByParty(unknown),
      ...(summary === null ? {} : { contributions: summary }),
      ...(drift === null ? {} : { drift }),
    };
  } finally {
    scorer.close();
  }
}

/** @throws TandemError CELL_UNPARSABLE naming file, line and column of the first base margin that is missing */
export function requireBaseMargins(
  input: string,
  { table, fileLines, lineNoun }: FileTable,
  { requiredColumn: required }: Pick<Scorer, "requiredColumn">,
): void {
  if (required === null) return;
  const row = table.features[required.place].findIndex((value) => !required.isUsable(value));
  if (row < 0) return;
  const where = `${input}, ${lineNoun} ${fileLines[row]}, column '${required.name}'`;
  throw new TandemError("CELL_UNPARSABLE", `${where}: the base_margin is missing, and the model needs one`);
}

/** Null for some of the rounds: a record is about the whole model. */
function explained(
  { share, ownFeatures: features }: Scorer,
  wanted: Wanted,
  values: Float64Array,
  rows: Uint32Array,
): ContributionSummary | null {
  const { kind, iterations } = wanted;
  if (!isExplanation(wanted) || iterations.begin > 0 || iterations.end > 0 || rows.length === 0) return null;
  if (kind === "own_contributions")
    return meanContributions({ ...share, passiveNames: ["all other parties"] }, features, values, rows, true);
  return meanContributions(share, features, values, rows, kind === "party_contributions");
}

/** The own columns that a model needs; the model knows which of them are categorical. */
export function wantedColumns({ features, categoryNames }: Pick<Scorer, "features" | "categoryNames">): WantedColumns {
  return { features, categorical: features.filter((_, i) => categoryNames[i] !== null) };
}

/** Their config. */
export function scoringData(data: DataConfig, model: Pick<Scorer, "features" | "categoryNames">): DataConfig {
  const { features, categorical } = wantedColumns(model);
  return { ...data, features: [...features], categorical: [...categorical], ...noConstraints };
}

/** The same for another file, whose format follows from its name and first line. */
export function inputData(data: DataConfig, model: Pick<Scorer, "features" | "categoryNames">): DataConfig {
  return { ...scoringData(data, model), format: undefined };
}

/** @returns per row its outputs, side by side; and per row the parties that do not hold the id */
export async function scoreAll(
  scorer: Scorer,
  rows: AskedRows,
  options: Pick<PredictOptions, "wanted" | "unknown" | "onProgress">,
  sendsContributions: boolean,
): Promise<{ readonly predictions: Float64Array; readonly unknown: ReadonlyMap<number, readonly string[]> }> {
  const { wanted = predictionWanted } = options;
  const { perRow } = scorer.outputs(wanted);
  const predictions = new Float64Array(rows.ids.length * perRow);
  const unknown = await askAll(rows, options, async (batch, first, asked) => {
    const scores = await scorer.score(batch, { ...asked, wanted, sendsContributions });
    predictions.set(scores.predictions, first * perRow);
    return scores.unknown;
  });
  return { predictions, unknown };
}

/** Ids and their values, column by column, in a model's codes. */
export interface AskedRows {
  readonly ids: TextList;
  readonly columns: readonly Float32Array[];
}

export function askedRows(scorer: Scorer, { table }: DistinctTable): AskedRows {
  const names = categoryNamesPerFeature(table);
  return {
    ids: table.ids,
    columns: table.features.map((values, i) => inModelCodes(values, names[i], scorer.categoryNames[i])),
  };
}

/**
 * Asks about all rows, batch by batch.
 * @param ask about a batch that begins at a row; returns its unknown rows with the parties that do not hold them
 * @returns per row the parties that do not hold the id
 */
export async function askAll(
  { ids, columns }: AskedRows,
  { unknown: rule, onProgress }: Pick<PredictOptions, "unknown" | "onProgress">,
  ask: (batch: ScoringRows, first: number, options: ScoringOptions) => Promise<ReadonlyMap<number, readonly string[]>>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const total = ids.length;
  const unknown = new Map<number, readonly string[]>();
  for (let first = 0; first < total; first += batchRows) {
    const end = Math.min(first + batchRows, total);
    const batch = {
      ids: textsBetween(ids, first, end),
      columns: columns.map((column) => column.subarray(first, end)),
    };
    const asked = { unknownAsMissing: rule === "missing", timeoutMs: batchTimeoutMs };
    for (const [row, parties] of await ask(batch, first, asked)) unknown.set(first + row, parties);
    onProgress(end, total);
  }
  return unknown;
}

/** Contains parties and lines, never an id. */
export function unknownRefusal(
  input: string,
  { fileLines, lineNoun }: FileTable,
  unknown: ReadonlyMap<number, readonly string[]>,
): TandemError {
  const counts = Object.entries(countByParty(unknown)).map(([name, count]) => `${count} to ${name}`);
  const [first] = unknown.keys();
  return new TandemError(
    "ID_UNKNOWN",
    `${input}: ${unknown.size} of its ${fileLines.length} ids are unknown to a passive party (${counts.join(", ")}), ` +
      `the first in ${lineNoun} ${fileLines[first]}. Leave such ids out with --unknown skip, ` +
      "or score them as missing with --unknown missing",
  );
}

export function countByParty(unknown: ReadonlyMap<number, readonly string[]>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of [...unknown.values()].flat()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
