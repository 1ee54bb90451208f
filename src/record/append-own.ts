/** Adds lines to the record of a job that has ended, for its page and its report. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { JsonLinesFile } from "../base/files/json-lines.ts";
import { ownFileName, recordBytesMax } from "./job-record.ts";
import type { OwnLine } from "./own-lines.ts";

/** A folder without a record is left alone. A record that cannot be written must not fail what it would note. */
export function appendOwn(folder: string, ...lines: readonly OwnLine[]): void {
  if (!existsSync(join(folder, ownFileName))) return;
  try {
    const file = new JsonLinesFile(join(folder, ownFileName), recordBytesMax);
    for (const line of lines) file.append(line);
    file.close();
  } catch {
    // The page and the report go without.
  }
}
