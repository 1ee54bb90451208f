/** A party's own tables as typed columns, with ids as alignment compares them. */
import type { DistinctIds } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { CategoryBook } from "../../data/category-book.ts";
import { categoryNamesPerFeature, type PartyTable, selectColumns } from "../../data/dataset.ts";
import { checkFeatureConstraints, constraintsIn, noConstraints } from "../../data/feature-constraints.ts";
import type { FeatureReading, Notice } from "../../data/feature-columns.ts";
import type { TableSource } from "../../data/sources/registry.ts";
import { streamTable } from "../../data/table-source.ts";
import type { CsvTable, TableRows, TableSink } from "../../data/table-sink.ts";
import { binFeature, type BinnedFeature } from "../../gbdt/split/binning.ts";
import { binCategories, oneHotBelow } from "../../gbdt/split/category-binning.ts";
import type { DataConfig } from "../config/data-config.ts";
import { groupBits } from "../../protocol/interaction-groups.ts";
import type { Job } from "../../protocol/job.ts";
import { checkedLabels, checkFileColumns, type LabelSpec } from "./party-labels.ts";
import { PartyTableSink } from "./party-table-sink.ts";

/** A party's rows, one per id; `ids` belongs to them row by row. */
export interface DistinctTable {
  readonly table: PartyTable;
  /** Rows are those of `table`. */
  readonly ids: DistinctIds;
  /** The row of the file, counted from 1 without a header, of each row of `table`. */
  readonly fileRows: Uint32Array;
}

/** A table out of one file, with the place of each row for messages. */
export interface FileTable extends DistinctTable {
  readonly fileLines: Uint32Array;
  /** What they count. */
  readonly lineNoun: "line" | "row";
}

/** What a party's text may be: refused unless it says otherwise. Tables that are to be put together share a book. */
export type TextReading = Partial<Pick<FeatureReading, "text" | "book" | "notice">>;

/** @throws TandemError naming file, line and column of what cannot be used */
export function readPartyTable(
  source: TableSource,
  data: DataConfig,
  label: LabelSpec | null,
  reading: TextReading = {},
): Promise<FileTable> {
  return readPartyRows((sink, tell) => streamTable(source, sink, data, tell), data, label, reading);
}

/**
 * The same of rows that come from elsewhere than a source of the config.
 * @param stream may be called twice
 */
export async function readPartyRows(
  stream: (sink: TableSink, tell: Notice) => Promise<TableRows>,
  data: DataConfig,
  label: LabelSpec | null,
  { text = "refuse", book = new CategoryBook(), notice = () => {} }: TextReading = {},
): Promise<FileTable> {
  const readOnce = async (mixed: readonly string[], tell: Notice): Promise<[PartyTableSink, TableRows]> => {
    const labels = (csv: CsvTable, index: number): Pick<PartyTable, "labels" | "classes" | "negatives"> =>
      label === null ? { labels: null } : checkedLabels(csv, index, label, notice);
    const sink = new PartyTableSink(data, label, { text, book, notice, mixed, labels });
    return [sink, await stream(sink, tell)];
  };
  let [sink, rows] = await readOnce([], notice);
  // The text of numbers is dropped by then: a column with both is read once more.
  if (sink.mixed.length > 0) [sink, rows] = await readOnce(sink.mixed, () => {});
  const { table: whole, ids } = sink.finish(rows);
  if (label !== null) checkFileColumns(rows, label, whole);
  checkFeatureConstraints(rows.path, data, whole.featureNames, whole.categories);
  // Without a row that is left out they are all there, in their order: a copy would take as much memory again.
  const kept = ids.rows.length === rows.rowCount ? whole : selectColumns(whole, ids.rows);
  return {
    table: { ...kept, ids: ids.ids, constraints: constraintsIn(data) },
    ids: ids.inOwnOrder(),
    fileRows: ids.rows.map((row) => row + 1),
    // Of several files the rows of all together are counted.
    fileLines: ids.rows.map((row) => (rows.partOf === undefined ? rows.lineOf(row) : row + 1)),
    lineNoun: rows.partOf === undefined ? (rows.lineNoun ?? "line") : "row",
  };
}

/** How features become bins: what both sides of a job have agreed on. */
export interface BinningParameters {
  readonly maxBin: number;
  /**
   * Features of many values are cut where XGBoost's sketch cuts them, and categories are numbered by their texts; left
   * out: cut at exact quantiles, numbered by frequency.
   */
  readonly sketchedCuts?: boolean;
  readonly enableCategorical: boolean;
  /** Features with fewer categories are split one category against the rest. */
  readonly maxCatToOnehot: number;
  /** Names of the job's interaction groups; empty or left out: it has none. */
  readonly interactionGroups?: string;
}

export function binningOf({
  training,
  interactionGroups,
}: Pick<Job, "training" | "interactionGroups">): BinningParameters {
  return {
    interactionGroups,
    maxBin: training.max_bin,
    sketchedCuts: training.bin_cuts === "xgboost",
    enableCategorical: training.enable_categorical,
    maxCatToOnehot: oneHotBelow(training),
  };
}

/**
 * @param training the rows that decide where the cuts are, and which categories there are; null: all
 * @throws TandemError CELL_UNPARSABLE naming file, line and column of categories that are not wanted, USAGE for too
 * many of them
 */
export function binTable(
  table: PartyTable,
  parameters: BinningParameters,
  training: Uint32Array | null = null,
): BinnedFeature[] {
  return table.features.map((_, feature) => binColumn(table, feature, parameters, training));
}

/** The same, yielding to the event loop: with many rows a column takes a second. @throws as binTable does */
export async function binTableInTurns(
  table: PartyTable,
  parameters: BinningParameters,
  training: Uint32Array | null = null,
): Promise<BinnedFeature[]> {
  const features: BinnedFeature[] = [];
  for (const feature of table.features.keys()) {
    features.push(binColumn(table, feature, parameters, training));
    if (isSliceOver()) await nextSlice();
  }
  return features;
}

/** @throws TandemError CELL_UNPARSABLE naming file, line and column of categories that are not wanted */
export function refuseCategories(
  table: Pick<PartyTable, "featureNames" | "categories">,
  { enableCategorical }: Pick<BinningParameters, "enableCategorical">,
): void {
  if (enableCategorical) return;
  const names = categoryNamesPerFeature(table);
  const first = table.featureNames.find((_, feature) => names[feature] !== null);
  if (first !== undefined) refuseColumn(table, first);
}

function refuseColumn(table: Pick<PartyTable, "categories">, name: string): never {
  throw new TandemError(
    "CELL_UNPARSABLE",
    `${table.categories?.[name].where}: the column has categories. Train with enable_categorical, leave the ` +
      "column out, or name the text as missing (data.missing)",
  );
}

function binColumn(
  table: PartyTable,
  feature: number,
  { maxBin, sketchedCuts = false, enableCategorical, maxCatToOnehot, interactionGroups = "" }: BinningParameters,
  training: Uint32Array | null,
): BinnedFeature {
  const name = table.featureNames[feature];
  const values = table.features[feature];
  const names = categoryNamesPerFeature(table)[feature];
  if (names !== null && !enableCategorical) refuseColumn(table, name);
  const binned =
    names === null
      ? binFeature(name, values, maxBin, training, sketchedCuts)
      : binCategories(name, values, names, maxCatToOnehot, training, sketchedCuts ? "text" : "frequency");
  const { monotone_constraints: signs, interaction_constraints: interactions } = table.constraints ?? noConstraints;
  const monotone = signs[name] ?? 0;
  const groups = Object.entries(interactions).flatMap(([group, all]) => (all.includes(name) ? [group] : []));
  return {
    ...binned,
    ...(monotone === 0 ? {} : { monotone }),
    ...(interactionGroups === "" ? {} : { groups: groupBits(interactionGroups, groups) }),
  };
}
