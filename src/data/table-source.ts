/** Reads a table, whatever source it comes from: sources/ has them. */
import type { Notice } from "./feature-columns.ts";
import { noHeaderAdvice } from "./header.ts";
import { type SourceName, sourceNamed, type TableSource } from "./sources/registry.ts";
import type { TableReading } from "./table-reading.ts";
import { type CsvTable, type TableRows, type TableSink, TextSink } from "./table-sink.ts";

/**
 * @param notice called where a file's first line was taken for names, though it looks like a row
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming file and, where there is one, line
 */
export async function readTable(
  source: TableSource,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<CsvTable> {
  const sink = new TextSink();
  const rows = await streamTable(source, sink, reading, notice);
  return { ...rows, columns: sink.columns };
}

/** The same with a sink that takes the cells piece by piece. @throws as readTable does, and what `sink` throws */
export async function streamTable(
  source: TableSource,
  sink: TableSink,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<TableRows> {
  const [name, config] = named(source);
  const rows = await sourceNamed(name).stream(config, sink, reading);
  if (rows.isHeaderDoubtful === true)
    notice(`${rows.path}: the first line was taken for names of columns, but looks like a row. ${noHeaderAdvice}`);
  return rows;
}

/** Something that changes when the table may have changed, or null if only reading it shows that. */
export async function tableVersion(source: TableSource): Promise<string | null> {
  const [name, config] = named(source);
  return (await sourceNamed(name).version?.(config)) ?? null;
}

function named(source: TableSource): [SourceName, unknown] {
  return Object.entries(source)[0] as [SourceName, unknown];
}
