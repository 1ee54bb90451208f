/** Files: CSV, Parquet or LIBSVM's text; one, a folder of them, or a list. */
import { stat } from "node:fs/promises";
import * as z from "zod";
import { listOf, text } from "../../base/parameters/config-fields.ts";
import { streamCsvText } from "../csv-table.ts";
import { csvBytes } from "../csv-text.ts";
import { tableLimits } from "../limits.ts";
import { tableParts, streamParts } from "../table-parts.ts";
import type { TableReading } from "../table-reading.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { dataSource } from "./data-source.ts";

export const files = dataSource({
  about: "a file (`.csv`, `.csv.gz`, `.parquet`), a folder of such files, or a list",
  schema: z.union([text, listOf(text).min(1, "must name a file")], "must be text, or a list of files"),
  resolve: (path, { from }) => (Array.isArray(path) ? path.map(from) : from(path)),
  stream: async (path, sink, reading) => {
    const parts = await tableParts(path);
    const stream = (file: string, into: TableSink): Promise<TableRows> => streamFile(file, into, reading);
    return parts === null ? stream(String(path), sink) : streamParts(path, parts, sink, stream);
  },
  version: async (path) => {
    try {
      const versions = ((await tableParts(path)) ?? [String(path)]).map(async (file) => {
        const { mtimeMs, size, ino } = await stat(file);
        return `${mtimeMs}/${size}/${ino}`;
      });
      return (await Promise.all(versions)).join(" ");
    } catch {
      return null; // reading it will report what is wrong
    }
  },
});

async function streamFile(path: string, sink: TableSink, reading: TableReading): Promise<TableRows> {
  const { format = path.endsWith(".parquet") ? "parquet" : undefined } = reading;
  if (format !== "parquet") return streamCsvText(path, csvBytes(path), sink, tableLimits, { ...reading, format });
  // Some fifty modules, which most starts of the command never need.
  const { streamParquet } = await import("../parquet-table.ts");
  return streamParquet(path, sink);
}
