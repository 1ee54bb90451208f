/** One CSV table divided by columns among parties: as numbers to train on, and as files to write. */
import { TandemError } from "../base/error.ts";
import { computedTexts, textAt } from "../base/text/text-list.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { columnIndex, columnTitle, idColumn } from "../data/columns.ts";
import { mapColumns, noColumns, type RowColumnName } from "../base/rows/row-columns.ts";
import type { CsvTable } from "../data/csv-table.ts";
import type { KeptTable } from "../data/kept-table.ts";
import type { PartyTable } from "../data/dataset.ts";
import { featureColumns, type FeatureReading } from "../data/feature-columns.ts";
import { constraintsOfParty } from "../data/feature-constraints.ts";
import type { LabelReading } from "../data/labels.ts";
import { namedColumns, readRowColumns, rowColumnText } from "../data/row-column.ts";
import { checkedLabels, checkFileColumns } from "../party/tables/party-labels.ts";
import type { CellTable } from "./federation.ts";
import { partiesOf, type SimulatedParty, type SimulateOptions } from "./simulate-options.ts";

/** Positions of a party's columns in the user's table. */
export interface Cut {
  readonly name: string;
  readonly columns: readonly number[];
  readonly features: readonly string[];
}

/** Names of the added columns in the files of the parties. */
export interface OwnNames {
  readonly id: string;
  readonly label: string;
  readonly rowColumn: (name: RowColumnName) => string;
}

/** Names that do not collide with the user's columns. The label keeps its own where it has one: reports print it. */
export function ownNames(table: CsvTable, given: string): OwnNames {
  const { names } = table;
  const named = names[columnIndex(table, given)];
  return {
    id: freeName("tandem_id", names),
    // A column without a name has none; '#3' would be a position.
    label: /^[^#\s]/.test(named) ? named : freeName("tandem_label", names),
    rowColumn: (name) => freeName(`tandem_${name}`, names),
  };
}

function freeName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? freeName(`${name}_`, taken) : name;
}

/** @throws TandemError COLUMN_UNKNOWN, or COLUMN_SHARED if a column is used twice */
export function cutColumns(table: CsvTable, options: SimulateOptions): Cut[] {
  const usedBy = new Map<number, string>();
  const claim = (column: string, user: string): number => {
    const index = columnIndex(table, column);
    const other = usedBy.get(index);
    if (other !== undefined) {
      throw new TandemError(
        "COLUMN_SHARED",
        `${table.path}: column ${columnTitle(table, index)} is given to both ${other} and ${user}. Leave it to one`,
      );
    }
    usedBy.set(index, user);
    return index;
  };
  if (options.id !== undefined) claim(options.id, "--id");
  claim(options.label, "--label");
  for (const [name, column] of namedColumns(options.rowColumns ?? {})) claim(column, `--${name.replaceAll("_", "-")}`);
  const parties = partiesOf(options);
  const takers = parties.filter(takesOthers);
  if (takers.length > 1)
    throw new TandemError(
      "COLUMN_SHARED",
      `${takers[0].option} and ${takers[1].option} both take all other columns: leave them to one`,
    );
  // All columns that are named come first.
  const named = parties.map((party) =>
    takesOthers(party) ? [] : party.columns.map((column) => claim(column, party.option)),
  );
  const others = table.names.flatMap((_, index) => (usedBy.has(index) ? [] : [index]));
  return parties.map((party, i) => {
    const columns = takesOthers(party) ? others : named[i];
    return {
      name: party.name,
      columns,
      features: columns.map((index) => table.names[index] || freeName(`column_${index}`, table.names)),
    };
  });
}

/** '*' in place of columns. */
function takesOthers({ columns }: SimulatedParty): boolean {
  return columns.length === 1 && columns[0] === "*";
}

/** @throws TandemError USAGE without enable_categorical, COLUMN_UNKNOWN for a name that is not a feature */
export function categoricalColumns(
  table: CsvTable,
  cuts: readonly Cut[],
  { categorical = [] }: SimulateOptions,
  training: TrainingParameters,
): readonly string[] {
  if (categorical.length > 0 && !training.enable_categorical)
    throw new TandemError("USAGE", "--categorical needs --enable-categorical");
  const features = cuts.flatMap((cut) => cut.features);
  const unknown = categorical.find((name) => !features.includes(name));
  if (unknown !== undefined)
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `${table.path}: --categorical names '${unknown}', which is not a feature${suggestion(unknown, features)}`,
    );
  return categorical;
}

export type CategoryReading = Pick<FeatureReading, "categorical" | "text" | "book" | "notice"> &
  Pick<LabelReading, "trained">;

export function parseTables(
  table: CsvTable,
  cuts: readonly Cut[],
  options: SimulateOptions,
  training: TrainingParameters,
  reading: CategoryReading,
): PartyTable[] {
  const ids = idColumn(table, options.id);
  const { positive, classes: named } = options;
  const spec = { training, positive, classes: named, ...(reading.trained && { trained: reading.trained }) };
  const index = columnIndex(table, options.label);
  const { labels, classes = null, negatives } = checkedLabels(table, index, spec, reading.notice);
  const columns = options.rowColumns ?? {};
  const rowColumns = readRowColumns(table, columns);
  checkFileColumns(table, { columns, training }, { labels, rowColumns });
  return cuts.map((cut, i) => ({
    ids,
    ...featureColumns(table, {
      ...reading,
      columns: cut.columns,
      names: cut.features,
      missing: options.missing,
      categorical: reading.categorical.filter((name) => cut.features.includes(name)),
    }),
    constraints: constraintsOfParty(options.job.constraints ?? {}, cut.features, i === 0),
    labels: i === 0 ? labels : null,
    ...(i === 0 && classes !== null ? { classes } : {}),
    ...(i === 0 && negatives ? { negatives } : {}),
    ...(i === 0 ? { rowColumns } : {}),
  }));
}

/** A party's own file: ids, its raw cells, and for the active party labels and per-row columns. */
export function toCellTable(
  table: KeptTable,
  cut: Cut,
  parsed: PartyTable,
  rows: Uint32Array,
  own: OwnNames,
): CellTable {
  const { labels, classes, rowColumns = noColumns } = parsed;
  const labelText = (label: number): string => classes?.[label] ?? String(label);
  const more = mapColumns(rowColumns, (column, name) => ({
    name: own.rowColumn(name),
    cells: Array.from(rows, (row) => rowColumnText(column[row])),
  }));
  return {
    names: [
      own.id,
      ...cut.features,
      ...(labels === null ? [] : [own.label]),
      ...Object.values(more).map(({ name }) => name),
    ],
    columns: [
      computedTexts(rows.length, (i) => textAt(parsed.ids, rows[i])),
      ...cut.columns.map((column) => table.kept[column].select(rows)),
      ...(labels === null ? [] : [computedTexts(rows.length, (i) => labelText(labels[rows[i]]))]),
      ...Object.values(more).map(({ cells }) => cells),
    ],
  };
}
