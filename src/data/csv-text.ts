/**
 * The text of a table file, chunk by chunk: plain or gzip-compressed, UTF-8, without its byte order mark.
 *
 * Anything that is not text is refused here rather than read as mangled text: an id with a replacement character in it
 * would silently fail to match the other party's.
 */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { TandemError } from "../base/error.ts";
import { characterBytes } from "./csv-rows.ts";
import { type TableLimits, tableLimits } from "./limits.ts";

const chunkSizeBytes = 1 << 18;

/**
 * Streams the text of a `.csv` or `.csv.gz` file as UTF-8, in pieces of whole characters; compression is recognised by
 * its content, not by its name.
 * @throws TandemError FILE_UNREADABLE if the file is missing or cannot be read, FILE_FORMAT if it is not UTF-8 text,
 * is a file of another kind, is damaged, or is named .gz without being compressed
 */
export function csvBytes(path: string, limits: TableLimits = tableLimits): AsyncGenerator<Buffer> {
  return utf8Bytes(path, plainBytes(path, limits));
}

const byteOrderMark = Buffer.from("\uFEFF");

/** Checks that bytes are UTF-8 text; `path` is their name in messages. @throws as csvBytes does */
export async function* utf8Bytes(path: string, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  try {
    for await (const bytes of source) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const end = endOfCharacters(all);
      const text = all.subarray(0, end);
      rest = all.subarray(end);
      if (!isUtf8(text) || !mayBegin(rest)) throw notUtf8(path);
      if (text.includes(0)) throw new TandemError("FILE_FORMAT", `${path} is not a text file: it contains zero bytes`);
      const isMarked = isFirst && text.subarray(0, byteOrderMark.length).equals(byteOrderMark);
      if (text.length > 0) isFirst = false;
      if (text.length > (isMarked ? byteOrderMark.length : 0))
        yield isMarked ? text.subarray(byteOrderMark.length) : text;
    }
  } catch (error) {
    throw asFileError(path, error);
  }
  if (rest.length > 0) throw notUtf8(path);
}

/** Without the bytes of a last character of which some are missing. */
function endOfCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at--) {
    if (bytes[at] < 0x80) break;
    if (bytes[at] >= 0xc0) return at + characterBytes(bytes[at]) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

/** Whether some bytes are the first ones of a character. */
function mayBegin(bytes: Buffer): boolean {
  if (bytes.length < 2) return bytes.length === 0 || (bytes[0] >= 0xc2 && bytes[0] <= 0xf4);
  // After the second byte any continuation is valid.
  return isUtf8(Buffer.concat([bytes, Buffer.alloc(characterBytes(bytes[0]) - bytes.length, 0x80)]));
}

function notUtf8(path: string): TandemError {
  return new TandemError("FILE_FORMAT", `${path} is not UTF-8 text. Convert it first, for example with iconv`);
}

async function* plainBytes(path: string, limits: TableLimits): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: chunkSizeBytes });
  try {
    const chunks: AsyncIterator<Buffer> = file[Symbol.asyncIterator]();
    const first = await chunks.next();
    if (first.done === true) return;
    const kind = otherFormat(first.value);
    if (kind !== null) throw new TandemError("FILE_FORMAT", `${path} is ${kind.what}. ${kind.advice}`);
    // A stream may not be rewound (a pipe), so the chunk that showed the file's kind goes back in front.
    const all = prepended(first.value, chunks);
    if (isGzip(first.value)) yield* gunzipped(path, all, limits);
    else if (path.endsWith(".gz"))
      throw new TandemError("FILE_FORMAT", `${path} is named .gz but is not gzip-compressed`);
    else yield* all;
  } finally {
    file.destroy();
  }
}

async function* prepended(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* gunzipped(
  path: string,
  compressed: AsyncIterable<Buffer>,
  { gzipRatio, ratioFreeBytes }: TableLimits,
): AsyncGenerator<Buffer> {
  const sizeBytes = { compressed: 0, plain: 0 };
  const source = Readable.from(counted(compressed, (length) => (sizeBytes.compressed += length)));
  const gunzip = createGunzip({ chunkSize: chunkSizeBytes });
  source.on("error", (error) => gunzip.destroy(error)); // pipe() forwards data, not errors
  try {
    for await (const bytes of source.pipe(gunzip) as AsyncIterable<Buffer>) {
      if (sizeBytes.plain === 0 && isGzip(bytes))
        throw new TandemError("FILE_FORMAT", `${path} is compressed twice. Decompress it once`);
      sizeBytes.plain += bytes.length;
      if (sizeBytes.plain > ratioFreeBytes && sizeBytes.plain > gzipRatio * sizeBytes.compressed)
        throw new TandemError(
          "FILE_FORMAT",
          `${path} decompresses to over ${gzipRatio} times its size, which no real table does. Check its contents`,
        );
      yield bytes;
    }
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, count: (length: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Other file formats that users may pass, by their first bytes. */
const otherFormats: readonly (readonly [magic: string, what: string, advice: string])[] = [
  [
    "PAR1",
    "a Parquet file, not CSV",
    "Let its name end in .parquet, or say --format parquet (in a config: data.format)",
  ],
  ["ARROW1", "an Arrow file (Feather), which Tandem does not read", "Save it as Parquet"],
  ["FEA1", "a Feather file, which Tandem does not read", "Save it as Parquet"],
  ["ORC", "an ORC file, which Tandem does not read", "Save it as Parquet"],
  ["\u0089HDF", "an HDF5 file, which Tandem does not read", "Save it as Parquet"],
  ["PK\u0003\u0004", "a spreadsheet or a ZIP archive, not CSV", "Save it as CSV"],
  ["BZh", "compressed with bzip2", "Compress it with gzip, or not at all"],
  ["\u00fd7zXZ", "compressed with xz", "Compress it with gzip, or not at all"],
  ["(\u00b5/\u00fd", "compressed with zstd", "Compress it with gzip, or not at all"],
];

/** The format of a file that cannot be CSV; null: it may be CSV. */
function otherFormat(head: Buffer): { readonly what: string; readonly advice: string } | null {
  const start = head.toString("latin1", 0, 8);
  const found = otherFormats.find(([magic]) => start.startsWith(magic));
  return found === undefined ? null : { what: found[1], advice: found[2] };
}

function isGzip(head: Buffer): boolean {
  return head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b;
}

function asFileError(path: string, error: unknown): unknown {
  if (error instanceof TandemError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return new TandemError("FILE_UNREADABLE", `${path}: no such file`, { cause: error });
  if (code === "EISDIR") return new TandemError("FILE_UNREADABLE", `${path} is a folder, not a file`, { cause: error });
  if (code === "EACCES")
    return new TandemError("FILE_UNREADABLE", `${path}: no permission to read it`, { cause: error });
  if (code.startsWith("Z_")) {
    return new TandemError("FILE_FORMAT", `${path} is damaged or cut off: it does not decompress to its end`, {
      cause: error,
    });
  }
  return new TandemError("FILE_UNREADABLE", `${path} cannot be read${code === "" ? "" : ` (${code})`}`, {
    cause: error,
  });
}
