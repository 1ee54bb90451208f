/** One party's data: ids, its own features and, at the active party, the labels. */
import { assert } from "../base/assert.ts";
import { columnsOfRows, type RowColumns } from "../base/rows/row-columns.ts";
import { selectFloat32, selectFloat64 } from "../base/rows/row-numbers.ts";
import { selectTexts } from "../base/text/packed-texts.ts";
import type { TextList } from "../base/text/text-list.ts";
import type { FeatureConstraints } from "./feature-constraints.ts";

/** A column of categories: its values are codes. */
export interface Categories {
  /** The category of each code. */
  readonly names: readonly string[];
  /** File, line and column of the first of them, for messages. */
  readonly where: string;
}

export interface PartyTable {
  readonly ids: TextList;
  readonly featureNames: string[];
  /** Per feature, per row; NaN is a missing value. */
  readonly features: Float32Array[];
  /** Of features by name; a feature that is not named here has numbers. */
  readonly categories?: Readonly<Record<string, Categories>>;
  /** Left out: none. */
  readonly constraints?: FeatureConstraints;
  /** Null at a passive party. */
  readonly labels: Float64Array | null;
  /** The classes that labels are indices of. Null or left out: labels are numbers. */
  readonly classes?: readonly string[] | null;
  /** The labels other than the positive one; left out: labels are classes or numbers. */
  readonly negatives?: readonly string[];
  /** Per-row columns of the active party, such as weights; default: none. */
  readonly rowColumns?: RowColumns;
}

/** Per feature the categories of its codes; null for numbers. */
export function categoryNamesPerFeature({
  featureNames,
  categories = {},
}: Pick<PartyTable, "featureNames" | "categories">): (readonly string[] | null)[] {
  return featureNames.map((name) => (Object.hasOwn(categories, name) ? categories[name].names : null));
}

/** A table of the given rows, in the given order; no column is shared with the original. */
export function selectRows(table: PartyTable, rows: Uint32Array): PartyTable {
  const beyond = rows.find((row) => row >= table.ids.length);
  assert(beyond === undefined, `row ${beyond} of a table of ${table.ids.length}`);
  return { ids: selectTexts(table.ids, rows), ...selectColumns(table, rows) };
}

/**
 * The same, with features that are selected on each access: for callers that read each feature a few times. A copy of
 * all would take as much memory as the table.
 */
export function viewRows(table: PartyTable, rows: Uint32Array): PartyTable {
  const features: Float32Array[] = [];
  table.features.forEach((feature, i) =>
    Object.defineProperty(features, i, { enumerable: true, get: () => selectFloat32(feature, rows) }),
  );
  return { ...selectRows({ ...table, features: [] }, rows), features };
}

/** The same without ids. */
export function selectColumns(table: Omit<PartyTable, "ids">, rows: Uint32Array): Omit<PartyTable, "ids"> {
  const { labels } = table;
  return {
    featureNames: [...table.featureNames],
    features: table.features.map((feature) => selectFloat32(feature, rows)),
    ...(table.categories ? { categories: table.categories } : {}),
    ...(table.constraints ? { constraints: table.constraints } : {}),
    labels: labels === null ? null : selectFloat64(labels, rows),
    ...(table.classes ? { classes: table.classes } : {}),
    ...(table.negatives ? { negatives: table.negatives } : {}),
    ...(table.rowColumns ? { rowColumns: columnsOfRows(table.rowColumns, rows) } : {}),
  };
}
