/** What a source of tables declares about itself: registry.ts has one line for each. */
import type { z } from "zod";
import type { TableReading } from "../table-reading.ts";
import type { TableRows, TableSink } from "../table-sink.ts";

/** Where a config is, and what it says about its files. */
export interface ConfigPlace {
  /** Makes a path of the config absolute. */
  readonly from: (path: string) => string;
  /** Secret files may be readable by other users of this machine. */
  readonly insecureFiles: boolean;
}

export interface DataSource<S extends z.ZodType> {
  /** The table, in a phrase: docs/sources.md has it. */
  readonly about: string;
  /** Of the field `data.<name>`. */
  readonly schema: S;
  /** Fields that do not belong into a config, and what to do instead. */
  readonly refused?: Readonly<Record<string, string>>;
  /** What the config says, with absolute paths. */
  resolve(given: z.output<S>, place: ConfigPlace): z.output<S>;
  /** @throws TandemError FILE_UNREADABLE or FILE_FORMAT without a secret, and what `sink` throws */
  stream(source: z.output<S>, sink: TableSink, reading: TableReading): Promise<TableRows>;
  /** Something that changes when the table may have changed; null or left out: only reading it shows that. */
  version?(source: z.output<S>): Promise<string | null>;
}

export function dataSource<S extends z.ZodType>(source: DataSource<S>): DataSource<S> {
  return source;
}
