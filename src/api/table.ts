/** Tables that a caller holds in memory, and how they reach code that reads files. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { computedTexts } from "../base/text/text-list.ts";
import { writeCsv } from "../data/write-csv.ts";

/** Columns by name, all of one length. A cell that is null or NaN is missing. */
export type Table = Readonly<Record<string, ArrayLike<number | string | null>>>;

/** Calls `use` with a file that holds the table, which is removed afterwards; a path is used as it is. @internal */
export async function withTableFile<T>(table: string | Table, use: (path: string) => Promise<T>): Promise<T> {
  if (typeof table === "string") return use(table);
  const columns = Object.values(table);
  if (columns.length === 0 || columns.some(({ length }) => length !== columns[0].length))
    throw new TandemError("USAGE", "a table needs columns, all of the same length");
  const folder = await mkdtemp(join(tmpdir(), "tandem-table-")); // only its owner may look into it
  try {
    const path = join(folder, "table.csv");
    const texts = columns.map((column) => computedTexts(column.length, (row) => cellText(column[row])));
    await writeCsv(path, Object.keys(table), texts, { mode: 0o600 });
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function cellText(cell: number | string | null): string {
  return cell === null || Number.isNaN(cell) ? "" : String(cell);
}
