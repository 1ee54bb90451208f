/**
 * A whole table in memory, for several readings of its columns. Cells are kept as bytes; those of a column become
 * strings when it is asked for, and only where numbers and copies do not do.
 */
import { KeptCells } from "./kept-cells.ts";
import type { TableReading } from "./table-reading.ts";
import { streamTable } from "./table-source.ts";
import type { TableSource } from "./sources/registry.ts";
import type { Notice } from "./feature-columns.ts";
import type { ColumnSink, CsvTable, TableRows, TableSink } from "./table-sink.ts";

export interface KeptTable extends CsvTable {
  readonly kept: readonly KeptCells[];
}

/** @throws as readTable (table-source.ts) does */
export async function readKeptTable(
  source: TableSource,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<KeptTable> {
  const sink = new KeptSink();
  const rows = await streamTable(source, sink, reading, notice);
  return keptTable(rows, sink.finish());
}

export function keptTable(rows: TableRows, kept: readonly KeptCells[]): KeptTable {
  const columns: (readonly string[])[] = [];
  let last: { readonly index: number; readonly texts: readonly string[] } | null = null;
  kept.forEach((cells, index) =>
    Object.defineProperty(columns, index, {
      enumerable: true,
      get: () => {
        if (last?.index !== index) last = { index, texts: cells.texts };
        return last.texts;
      },
    }),
  );
  return { ...rows, columns, kept, cellsOf: (index) => kept[index].column };
}

export class KeptSink implements TableSink {
  #columns: readonly KeptCells[] = [];

  begin({ names }: Pick<TableRows, "names">): readonly ColumnSink[] {
    this.#columns = names.map(() => new KeptCells());
    return this.#columns.map((column) => ({
      take: ({ table, index, cells }) => {
        if (cells === undefined) column.addTexts(table.columns[index]);
        else column.addCells(cells);
      },
    }));
  }

  get rowBytes(): number {
    return Uint32Array.BYTES_PER_ELEMENT * this.#columns.length;
  }

  get sizeBytes(): number {
    return this.#columns.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Once. */
  finish(): readonly KeptCells[] {
    for (const column of this.#columns) column.trim();
    return this.#columns;
  }
}
