/**
 * Reads a whole file if it is not too large: its size is checked before and during reading.
 */
import { open } from "node:fs/promises";
import { TandemError } from "../error.ts";

export interface FileBound {
  readonly sizeBytesMax: number;
  /** A noun for messages: "a config". */
  readonly noun: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @returns null if there is no such file. @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming the file */
export async function readBoundedText(path: string, bound: FileBound): Promise<string | null> {
  const bytes = await readBounded(path, bound);
  try {
    return bytes && utf8.decode(bytes);
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path} is not ${bound.noun}: it is not UTF-8 text`, { cause });
  }
}

/** The bytes alone. @returns null if there is no such file. @throws as readBoundedText does */
export async function readBounded(path: string, { sizeBytesMax, noun }: FileBound): Promise<Buffer | null> {
  const tooLarge = (): TandemError =>
    new TandemError("FILE_FORMAT", `${path} is larger than ${noun} may be (${sizeBytesMax} bytes)`);
  let file;
  try {
    file = await open(path, "r");
    const { size } = await file.stat();
    if (size > sizeBytesMax) throw tooLarge();
    const chunks: Buffer[] = [];
    let read = 0;
    // A pipe has no size, and a file may grow.
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > sizeBytesMax) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    if (code === "ENOENT") return null;
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read (${code})`, { cause });
  } finally {
    await file?.close();
  }
}
