/** What a party keeps of its table while it is read: packed ids, and typed columns. Nothing stays as text. */
import { type DistinctIds, IdCollector } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import type { RowColumnName } from "../../base/rows/row-columns.ts";
import { suggestion } from "../../base/text/nearest-name.ts";
import { columnIndex, columnTitle } from "../../data/columns.ts";
import type { Categories, PartyTable } from "../../data/dataset.ts";
import type { FeatureReading } from "../../data/feature-columns.ts";
import { namedColumns, rowColumn, type RowColumnChoice } from "../../data/row-column.ts";
import { DistinctTexts } from "../../data/distinct-texts.ts";
import { FeatureSink } from "../../data/feature-sink.ts";
import { NumberSink } from "../../data/number-sink.ts";
import type { ColumnSink, CsvTable, TableRows, TableSink } from "../../data/table-sink.ts";
import type { DataConfig } from "../config/data-config.ts";

/** The active party's columns beside its features. */
interface OtherColumns {
  readonly label: string;
  readonly columns?: RowColumnChoice;
}

export type SinkReading = Required<Pick<FeatureReading, "text" | "book" | "notice">> & {
  /** Features that are known to have numbers and text. */
  readonly mixed: readonly string[];
  /** Makes labels of the column of that index. */
  readonly labels: (table: CsvTable, index: number) => Pick<PartyTable, "labels" | "classes" | "negatives">;
};

/** Every row of the file, and which of them count. */
export interface WholeTable {
  readonly table: Omit<PartyTable, "ids">;
  readonly ids: DistinctIds;
}

/** Where the columns stand that are wanted. */
interface Wanted {
  readonly id: number;
  readonly features: readonly number[];
  readonly featureNames: readonly string[];
  readonly label: number | null;
  readonly rowColumns: readonly (readonly [RowColumnName, number])[];
}

export class PartyTableSink implements TableSink {
  readonly #data: DataConfig;
  readonly #others: OtherColumns | null;
  readonly #reading: SinkReading;
  readonly #ids: IdCollector;
  #wanted: Wanted | null = null;
  #features: FeatureSink[] = [];
  #labels: DistinctTexts | null = null;
  #rowColumns: (readonly [RowColumnName, NumberSink])[] = [];

  constructor(data: DataConfig, others: OtherColumns | null, reading: SinkReading) {
    this.#data = data;
    this.#others = others;
    this.#reading = reading;
    this.#ids = new IdCollector(data.normalise, data.duplicates);
  }

  /** Features with numbers and text that were not known to be so: the table must be read again. */
  get mixed(): readonly string[] {
    return this.#features.filter((feature) => feature.isMixed).map(({ name }) => name);
  }

  get rowBytes(): number {
    return 4 * (this.#features.length + 1);
  }

  get sizeBytes(): number {
    const others = this.#rowColumns.map(([, sink]) => sink);
    const columns = [...this.#features, this.#labels, ...others];
    return columns.reduce((sum, sink) => sum + (sink?.sizeBytes ?? 0), this.#ids.sizeBytes);
  }

  begin(table: Pick<TableRows, "path" | "names" | "aside">): readonly (ColumnSink | null)[] {
    const wanted = wantedColumns(table, this.#data, this.#others);
    this.#wanted = wanted;
    const { missing, categorical } = this.#data;
    const unknown = categorical.find((name) => !wanted.featureNames.includes(name));
    if (unknown !== undefined) {
      const hint = suggestion(unknown, wanted.featureNames);
      throw new TandemError(
        "COLUMN_UNKNOWN",
        `${table.path}: 'categorical' names '${unknown}', which is no feature${hint}`,
      );
    }
    const { text, book, notice, mixed } = this.#reading;
    this.#features = wanted.featureNames.map((name) => {
      const kind = categorical.includes(name) ? "named" : mixed.includes(name) ? "mixed" : null;
      return new FeatureSink({ text, book, notice, missing, name, kind, saidIn: "config" });
    });
    if (wanted.label !== null) this.#labels = new DistinctTexts();
    this.#rowColumns = wanted.rowColumns.map(([name]) => [
      name,
      new NumberSink((piece, index) => rowColumn(piece, index, name)),
    ]);
    return this.#sinksOf(table.names.length, wanted);
  }

  /** One column may be wanted twice: as id and as label. */
  #sinksOf(columnCount: number, { id, features, label, rowColumns }: Wanted): (ColumnSink | null)[] {
    const sinks: (ColumnSink | null)[] = Array.from({ length: columnCount }, () => null);
    const add = (index: number, sink: ColumnSink): void => {
      const other = sinks[index];
      sinks[index] = other === null ? sink : { take: (piece) => (other.take(piece), sink.take(piece)) };
    };
    add(id, {
      take: ({ table, index, cells }) => {
        if (cells !== undefined) this.#ids.addCells(cells);
        else for (const cell of table.columns[index]) this.#ids.add(cell);
      },
    });
    features.forEach((index, i) => add(index, this.#features[i]));
    if (label !== null && this.#labels !== null) add(label, this.#labels);
    rowColumns.forEach(([, index], i) => add(index, this.#rowColumns[i][1]));
    return sinks;
  }

  /** Once. @throws TandemError naming file, line and column of what cannot be used */
  finish(rows: TableRows): WholeTable {
    const { featureNames, label } = this.#wanted ?? { featureNames: [], label: null };
    const categories: Record<string, Categories> = {};
    const features = this.#features.map((sink, i) => {
      const { values, categories: found } = sink.finish();
      if (found !== null) categories[featureNames[i]] = found;
      return values;
    });
    const labels = label === null ? { labels: null } : this.#reading.labels(this.#labelTable(rows, label), label);
    const rowColumns = Object.fromEntries(this.#rowColumns.map(([name, sink]) => [name, sink.finish()]));
    const { path: source, lineOf, lineNoun = "line", partOf } = rows;
    const ids = this.#ids.finish({ source, lineOf, lineNoun, partOf });
    return { table: { featureNames: [...featureNames], features, categories, ...labels, rowColumns }, ids };
  }

  #labelTable(rows: TableRows, label: number): CsvTable {
    const columns: string[][] = [];
    columns[label] = this.#labels?.finish() ?? [];
    this.#labels = null;
    return { ...rows, columns };
  }
}

/** @throws TandemError COLUMN_UNKNOWN, or COLUMN_SHARED if the id, the label or a per-row column is a feature too */
function wantedColumns(
  table: Pick<TableRows, "path" | "names" | "aside">,
  data: Pick<DataConfig, "id" | "features">,
  label: OtherColumns | null,
): Wanted {
  const id = columnIndex(table, data.id);
  const named = namedColumns(label?.columns ?? {});
  const others = [label?.label, ...named.map(([, column]) => column)].filter((column) => column !== undefined);
  const featureNames = namesOfFeatures(table, data, others);
  return {
    id,
    featureNames,
    features: featureNames.map((name) => columnIndex(table, name)),
    label: label === null ? null : columnIndex(table, label.label),
    rowColumns: named.map(([name, column]) => [name, columnIndex(table, column)]),
  };
}

function namesOfFeatures(
  table: Pick<TableRows, "path" | "names" | "aside">,
  { id, features }: Pick<DataConfig, "id" | "features">,
  others: readonly string[],
): string[] {
  const reserved = new Set([id, ...others].map((column) => columnIndex(table, column)));
  if (Array.isArray(features)) {
    for (const name of features) {
      const index = columnIndex(table, name);
      if (reserved.has(index))
        throw new TandemError(
          "COLUMN_SHARED",
          `${table.path}: column ${columnTitle(table, index)} cannot be a feature: ` +
            "it is the id, the label, the weight or another per-row column",
        );
      reserved.add(index);
    }
    return features;
  }
  const leftOut = new Set([
    ...reserved,
    ...(table.aside ?? []).map((name) => columnIndex(table, name)),
    ...(features === "all" ? [] : features.all_but.map((name) => columnIndex(table, name))),
  ]);
  return table.names.map((name, index) => name || `#${index}`).filter((_, index) => !leftOut.has(index));
}
