/** Everything that reads bytes from outside. */
import { configs } from "./configs.ts";
import { csvReaders } from "./csv-readers.ts";
import type { FuzzFormat } from "./fuzz-format.ts";
import { native } from "./native.ts";
import { records } from "./records.ts";
import { stored } from "./stored.ts";
import { csv, gzip, parquet } from "./tables.ts";
import { wire } from "./messages.ts";

export const formats: readonly FuzzFormat[] = [
  csv,
  csvReaders,
  gzip,
  parquet,
  ...configs,
  ...stored,
  ...records,
  ...wire,
  native,
];
