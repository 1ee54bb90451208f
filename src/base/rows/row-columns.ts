/**
 * Per-row columns for training besides the label. Only the active party has them, and they never leave it. Each is
 * declared here once: config, command line, tables, digests and checks iterate over the declarations.
 */
import { type ErrorCode, TandemError } from "../error.ts";
import { isMissing, parseNumber } from "../text/number-cell.ts";
import { selectFloat64, joinedFloat64 } from "./row-numbers.ts";

/** Why a cell is invalid; never with its value. */
interface CellTrouble {
  /** About the cell ("is not a number"), or about the column's quantity if `code` is given ("is negative"). */
  readonly what: string;
  readonly code?: ErrorCode;
}

export interface RowColumn {
  /** For the command line, after "--name <column>". */
  readonly help: string;
  /** Rows with the same value stay together in folds, test and validation rows. */
  readonly keepsTogether?: true;
  /** @param cell trimmed */
  read(cell: string): number | CellTrouble;
  /**
   * The whole column, before training.
   * @throws TandemError naming the first invalid instance, never its value
   */
  check?(values: Float64Array, objective: { readonly name: string; readonly outputCount: number }): void;
}

export const rowColumns = {
  weight: {
    help: "instance weights, by name or position; the active party has them",
    read: (cell) => {
      if (isMissing(cell)) return { code: "WEIGHT_INVALID", what: "is missing" };
      const value = parseNumber(cell) ?? { what: "is not a number; a weight must be one" };
      return typeof value === "number" && value < 0 ? { code: "WEIGHT_INVALID", what: "is negative" } : value;
    },
    check: (weights) => {
      const bad = weights.findIndex((weight) => !(weight >= 0 && Number.isFinite(weight)));
      if (bad >= 0)
        throw new TandemError("WEIGHT_INVALID", `the weight of instance ${bad} is negative or not a finite number`);
      if (weights.every((weight) => weight === 0))
        throw new TandemError("WEIGHT_INVALID", "all weights are 0; there is nothing to learn from");
    },
  },
  base_margin: {
    help: "where each row's margin starts, in place of --base-score; the active party's",
    // float32, as in XGBoost.
    read: (cell) => {
      const value = Math.fround(parseNumber(cell) ?? NaN);
      return Number.isFinite(value) ? value : { what: "is not a number; a base_margin must be one" };
    },
    check: (margins, { name, outputCount }) => {
      if (outputCount > 1)
        throw new TandemError("USAGE", `base_margin is one column, but ${name} has ${outputCount} outputs here`);
      const bad = margins.findIndex((margin) => !Number.isFinite(margin));
      if (bad >= 0) throw new TandemError("LABEL_INVALID", `the base_margin of instance ${bad} is not a finite number`);
    },
  },
  label_upper_bound: {
    help: "the latest that the event can have been; --label the earliest",
    read: (cell) => {
      if (isMissing(cell) || /^\+?inf(inity)?$/i.test(cell)) return Infinity;
      return parseNumber(cell) ?? { what: "is neither a number, nor empty or inf for an event that was not observed" };
    },
  },
  qid: {
    help: "the group that a row is ranked in, a whole number; the active party's",
    keepsTogether: true,
    read: (cell) => {
      const value = parseNumber(cell);
      return value !== undefined && Number.isSafeInteger(value) && value >= 0
        ? value
        : { what: "is not a whole number from 0 on; a qid must be one" };
    },
  },
} as const satisfies Readonly<Record<string, RowColumn>>;

export type RowColumnName = keyof typeof rowColumns;
export type RowColumns = Readonly<Partial<Record<RowColumnName, Float64Array>>>;

/** In the order of tables, digests and messages. */
export const rowColumnNames = Object.keys(rowColumns) as readonly RowColumnName[] as readonly [
  RowColumnName,
  ...RowColumnName[],
];

export const noColumns: RowColumns = {};

/** Maps every declared column. */
export function forEachColumn<T>(of: (name: RowColumnName) => T): Readonly<Record<RowColumnName, T>> {
  return Object.fromEntries(rowColumnNames.map((name) => [name, of(name)])) as Record<RowColumnName, T>;
}

export function rowColumnNamed(name: RowColumnName): RowColumn {
  return rowColumns[name];
}

/** Maps the given columns by name. */
export function mapColumns<T>(
  columns: RowColumns,
  of: (column: Float64Array, name: RowColumnName) => T,
): Partial<Record<RowColumnName, T>> {
  const made: Partial<Record<RowColumnName, T>> = {};
  for (const name of rowColumnNames) {
    const column = columns[name];
    if (column !== undefined) made[name] = of(column, name);
  }
  return made;
}

/** A selection of rows; null: all. */
export function columnsOfRows(columns: RowColumns, rows: Uint32Array | null): RowColumns {
  return rows === null ? columns : mapColumns(columns, (column) => selectFloat64(column, rows));
}

/** Concatenates several tables with the same columns. */
export function joinedColumns(tables: readonly RowColumns[]): RowColumns {
  return mapColumns(tables[0], (_, name) =>
    joinedFloat64(tables.map((columns) => columns[name] ?? new Float64Array(0))),
  );
}

/** Per row the group that must stay together; undefined: every row is its own group. */
export function drawnTogether(columns: RowColumns): Float64Array | undefined {
  const name = rowColumnNames.find((each) => rowColumnNamed(each).keepsTogether && columns[each] !== undefined);
  return name && columns[name];
}
