/**
 * Writes text cells as CSV: comma, \n, quotes only where a reader would need them. Used to cut one table into one file
 * per party; readCsvTable gives back the same cells.
 */
import { open, type FileHandle } from "node:fs/promises";
import { assert } from "../base/assert.ts";
import { writeFileAtomically } from "../base/files/atomic-file.ts";
import { TandemError } from "../base/error.ts";
import { isSelection } from "./kept-cells.ts";
import { textAt, type TextList } from "../base/text/text-list.ts";

const chunkCharsMin = 1 << 16;
const chunkBytes = 1 << 18;
const comma = 0x2c;
const lineFeed = 0x0a;

/**
 * Separators and quotes; outer spaces, which some readers drop; a byte order mark, which readers take for the file's.
 */
const needsQuotes = /[",;\t\r\n\uFEFF]|^\s|\s$/;

export interface WriteCsvOptions {
  /** 0o600 for personal data; also applied to an existing file. Default: the umask's. */
  readonly mode?: number;
  /** The old file stays until the new one is complete. Needs a mode. */
  readonly atomic?: boolean;
}

/**
 * Writes (or overwrites) a file, a chunk at a time.
 * @param columns per column, per row: the cell's text
 * @throws TandemError FILE_UNWRITABLE if the file cannot be written
 */
export async function writeCsv(
  path: string,
  names: readonly string[],
  columns: readonly TextList[],
  options: WriteCsvOptions = {},
): Promise<void> {
  const chunks = checkedChunks<string | Uint8Array>(
    names,
    columns,
    columns.some(isSelection) ? chunksOfBytes : chunksOf,
  );
  if (options.atomic === true) {
    assert(options.mode !== undefined, "an atomic file has a mode");
    return writeFileAtomically(path, chunks, options.mode);
  }
  let file: FileHandle | undefined;
  try {
    file = await open(path, "w", options.mode);
    if (options.mode !== undefined) await file.chmod(options.mode);
    for (const chunk of chunks) await file.writeFile(chunk);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written${reason}`, { cause: error });
  } finally {
    await file?.close();
  }
}

/** The file's text, in pieces. */
export function csvChunks(names: readonly string[], columns: readonly TextList[]): Iterable<string> {
  return checkedChunks(names, columns, chunksOf);
}

function checkedChunks<T>(
  names: readonly string[],
  columns: readonly TextList[],
  chunks: (names: readonly string[], columns: readonly TextList[]) => Iterable<T>,
): Iterable<T> {
  assert(names.length > 0 && names.length === columns.length, "one name per column");
  assert(
    columns.every((column) => column.length === columns[0].length),
    "columns of one length",
  );
  // A lone empty cell is a blank line, which readers skip.
  const blankLine = columns.length === 1 && [names[0], ...columns[0]].some((cell) => cell.trim() === "");
  assert(!blankLine, "no empty cell in a table of one column");
  return chunks(names, columns);
}

function* chunksOf(names: readonly string[], columns: readonly TextList[]): Generator<string> {
  let chunk = csvLine(names);
  for (let row = 0; row < columns[0].length; row++) {
    chunk += csvLine(columns.map((column) => textAt(column, row)));
    if (chunk.length >= chunkCharsMin) {
      yield chunk;
      chunk = "";
    }
  }
  yield chunk;
}

/** The same, as bytes: cells that are kept so are copied where they need no quotes. */
function* chunksOfBytes(names: readonly string[], columns: readonly TextList[]): Generator<Uint8Array> {
  const selections = columns.map((column) => (isSelection(column) ? column : null));
  const last = columns.length - 1;
  yield Buffer.from(csvLine(names));
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let at = 0;
  for (let row = 0; row < columns[0].length; row++)
    for (let column = 0; column <= last; column++) {
      const copied = selections[column]?.copyPlain(row, chunk, at);
      if (copied !== undefined) at = copied;
      else {
        const text = Buffer.from(quoted(textAt(columns[column], row)));
        if (text.length >= chunk.length - at) {
          yield chunk.subarray(0, at);
          chunk = Buffer.allocUnsafe(chunkBytes + text.length);
          at = 0;
        }
        chunk.set(text, at);
        at += text.length;
      }
      chunk[at++] = column === last ? lineFeed : comma;
    }
  yield chunk.subarray(0, at);
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(",")}\n`;
}

function quoted(cell: string): string {
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
