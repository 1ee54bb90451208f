/** A party's own tables as typed columns, with ids as alignment compares them. */
import { DistinctIds } from "../align/normalise.ts";
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { TrainingParameters } from "../base/parameters/parameters.ts";
import { CategoryBook } from "../data/category-book.ts";
import { columnIndex, columnTitle, idColumn, weightColumn } from "../data/columns.ts";
import type { CsvTable } from "../data/csv-table.ts";
import { categoryNamesOf, type PartyTable, selectRows } from "../data/dataset.ts";
import { featureColumns, type FeatureReading } from "../data/feature-columns.ts";
import { namedColumns, readRowColumns } from "../data/row-column.ts";
import { readTable, type TableSource } from "../data/table-source.ts";
import { binFeature, type BinnedFeature } from "../gbdt/split/binning.ts";
import { binCategories, oneHotBelow } from "../gbdt/split/category-binning.ts";
import type { DataConfig } from "./config.ts";
import { groupBits } from "../protocol/interaction-groups.ts";
import { checkGroupedFeatures } from "./interaction-groups.ts";
import { checkedLabels, type LabelSpec } from "./party-labels.ts";

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

export function sourceOf({ path, command }: Pick<DataConfig, "path" | "command">): TableSource {
  if (path !== undefined) return { path };
  return { command: command ?? [] };
}

/** What a party's text may be: refused unless it says otherwise. Tables that are to be put together share a book. */
export type TextReading = Partial<Pick<FeatureReading, "text" | "book" | "notice">>;

/** @throws TandemError naming file, line and column of what cannot be used */
export async function readPartyTable(
  source: TableSource,
  data: DataConfig,
  label: LabelSpec | null,
  { text = "refuse", book = new CategoryBook(), notice = () => {} }: TextReading = {},
): Promise<FileTable> {
  const csv = await readTable(source, data, notice);
  const idIndex = columnIndex(csv, data.id);
  const names = featureNames(
    csv,
    data,
    [label?.label, label?.weight, ...namedColumns(label?.columns ?? {}).map(([, column]) => column)].filter(
      (column) => column !== undefined,
    ),
  );
  const whole = partyTable(
    csv,
    {
      columns: names.map((name) => columnIndex(csv, name)),
      names,
      missing: data.missing,
      categorical: data.categorical,
      text,
      book,
      saidIn: "config",
      notice,
    },
    label,
  );
  const lineNoun = csv.lineNoun ?? "line";
  const ids = DistinctIds.from(csv.columns[idIndex], {
    normalise: data.normalise,
    duplicates: data.duplicates,
    source: csv.path,
    lineOf: (row) => csv.lineOf(row),
    lineNoun,
  });
  const { monotone_constraints: monotone, interaction_constraints: interactions } = data;
  checkConstraints(csv.path, monotone, whole);
  checkGroupedFeatures(csv.path, interactions, whole.featureNames);
  const kept = { ...selectRows(whole, ids.rows), monotone, interactions };
  return {
    table: { ...kept, ids: [...ids.ids] },
    ids: ids.inOwnOrder(),
    fileRows: ids.rows.map((row) => row + 1),
    fileLines: ids.rows.map((row) => csv.lineOf(row)),
    lineNoun,
  };
}

/** @throws TandemError COLUMN_UNKNOWN for a constraint of what is not a feature, USAGE for one of categories */
export function checkConstraints(
  path: string,
  monotone: Readonly<Record<string, number>>,
  { featureNames, categories = {} }: Pick<PartyTable, "featureNames" | "categories">,
): void {
  for (const [name, sign] of Object.entries(monotone)) {
    if (!featureNames.includes(name))
      throw new TandemError(
        "COLUMN_UNKNOWN",
        `${path}: monotone_constraints names '${name}', which is no feature${suggestion(name, featureNames)}`,
      );
    if (sign !== 0 && Object.hasOwn(categories, name))
      throw new TandemError("USAGE", `${path}: monotone_constraints names '${name}', but categories have no order`);
  }
}

/** @throws TandemError COLUMN_UNKNOWN, or COLUMN_SHARED if the id, the label or the weight is named as a feature */
function featureNames(
  csv: CsvTable,
  { id, features }: Pick<DataConfig, "id" | "features">,
  others: readonly string[],
): string[] {
  const reserved = new Set([id, ...others].map((column) => columnIndex(csv, column)));
  if (Array.isArray(features)) {
    for (const name of features) {
      const index = columnIndex(csv, name);
      if (reserved.has(index))
        throw new TandemError(
          "COLUMN_SHARED",
          `${csv.path}: column ${columnTitle(csv, index)} cannot be a feature: it is the id, the label, the weight ` +
            "or another column that says how rows are learnt",
        );
      reserved.add(index);
    }
    return features;
  }
  const leftOut = new Set([
    ...reserved,
    ...(csv.aside ?? []).map((name) => columnIndex(csv, name)),
    ...(features === "all" ? [] : features.all_but.map((name) => columnIndex(csv, name))),
  ]);
  return csv.names.map((name, index) => name || `#${index}`).filter((_, index) => !leftOut.has(index));
}

function partyTable(csv: CsvTable, reading: FeatureReading, label: LabelSpec | null): PartyTable {
  const rowColumns = readRowColumns(csv, label?.columns ?? {});
  return {
    ids: idColumn(csv, undefined),
    ...featureColumns(csv, reading),
    ...(label === null ? { labels: null } : checkedLabels(csv, columnIndex(csv, label.label), label, reading.notice)),
    weights: label?.weight === undefined ? null : weightColumn(csv, columnIndex(csv, label.weight)),
    ...(rowColumns === undefined ? {} : { rowColumns }),
  };
}

/** How features become bins: what both sides of a job have agreed on. */
export interface BinningParameters {
  readonly maxBin: number;
  readonly enableCategorical: boolean;
  /** Features with fewer categories are split one category against the rest. */
  readonly maxCatToOnehot: number;
  /** Names of the job's interaction groups; empty or left out: it has none. */
  readonly interactionGroups?: string;
}

/** @param interactionGroups of the job (protocol/interaction-groups.ts) */
export function binningOf(training: TrainingParameters, interactionGroups = ""): BinningParameters {
  return {
    interactionGroups,
    maxBin: training.max_bin,
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
  { maxBin, enableCategorical, maxCatToOnehot, interactionGroups = "" }: BinningParameters,
  training: Uint32Array | null = null,
): BinnedFeature[] {
  const categories = categoryNamesOf(table);
  return table.features.map((values, i) => {
    const name = table.featureNames[i];
    const names = categories[i];
    if (names !== null && !enableCategorical) {
      throw new TandemError(
        "CELL_UNPARSABLE",
        `${table.categories?.[name].where}: the column has categories. Train with enable_categorical, leave the column ` +
          "out, or name the text as missing (data.missing)",
      );
    }
    const binned =
      names === null
        ? binFeature(name, values, maxBin, training)
        : binCategories(name, values, names, maxCatToOnehot, training);
    const monotone = table.monotone?.[name] ?? 0;
    const groups = Object.entries(table.interactions ?? {}).flatMap(([group, all]) =>
      all.includes(name) ? [group] : [],
    );
    return {
      ...binned,
      ...(monotone === 0 ? {} : { monotone }),
      ...(interactionGroups === "" ? {} : { groups: groupBits(interactionGroups, groups) }),
    };
  });
}
