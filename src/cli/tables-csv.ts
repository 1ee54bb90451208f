/** Tables of a report as CSV files, with all digits. */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { computedTexts } from "../base/text/text-list.ts";
import { writeCsv } from "../data/write-csv.ts";
import type { EvaluationTable } from "../record/evaluation/table.ts";

/** A file per table. @returns the files */
export async function writeTables(folder: string, tables: readonly EvaluationTable[]): Promise<string[]> {
  await mkdir(resolve(folder), { recursive: true, mode: 0o700 });
  const paths: string[] = [];
  for (const { name, columns, rows } of tables) {
    const path = join(resolve(folder), `${name}.csv`);
    const texts = columns.map((_, i) => computedTexts(rows.length, (row) => String(rows[row][i] ?? "")));
    const names = columns.map((column) => column.name);
    await writeCsv(path, names, texts, { mode: 0o600, atomic: true });
    paths.push(path);
  }
  return paths;
}
