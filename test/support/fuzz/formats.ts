/** Everything that reads bytes from outside. */
import { configs } from "./configs.ts";
import type { FuzzFormat } from "./fuzz-format.ts";
import { native } from "./native.ts";
import { records } from "./records.ts";
import { stored } from "./stored.ts";
import { csv, gzip, parquet } from "./tables.ts";
import { wire } from "./messages.ts";

export const formats: readonly FuzzFormat[] = [csv, gzip, parquet, ...configs, ...stored, ...records, ...wire, native];
