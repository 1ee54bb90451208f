/**
 * Where a party keeps what must outlive its process. A file is the old version or the new one and nothing in between,
 * and once a write has settled it stays, also if the machine loses power. A simulation brings a storage of its own.
 */
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isUnfinishedWrite, syncDirectory, writeFileAtomically } from "./atomic-file.ts";
import { readBounded } from "./bounded-file.ts";
import { appendDurably } from "./durable-file.ts";
import { TandemError } from "../error.ts";

/** Every Buffer of Node 20 can have as many. */
const storedBytesMax = 2 ** 31 - 1;
/** The margins of forty million people as base64; V8 has no text of more than 2^29 characters. */
const storedTextBytesMax = 2 ** 29 - 1024;

/** Text is stored as UTF-8. */
export type Piece = string | Uint8Array;
/** All of it, or pieces that are written as they are made. */
export type Contents = Piece | Iterable<Piece>;

export interface Storage {
  /** Null where there is no such file. @throws TandemError FILE_UNREADABLE */
  read(path: string): Promise<Uint8Array | null>;
  /** Readable by its owner only. @throws TandemError FILE_UNWRITABLE */
  write(path: string, contents: Contents): Promise<void>;
  /**
   * Adds to a file's end; makes it where there is none. What never settled may be there in part, at the end of all that
   * had. @throws TandemError FILE_UNWRITABLE
   */
  append(path: string, contents: Piece): Promise<void>;
  /** Nothing happens where there is no such file. @throws TandemError FILE_UNWRITABLE */
  remove(path: string): Promise<void>;
  /** With everything in it. Nothing happens where there is no such folder. @throws TandemError FILE_UNWRITABLE */
  removeFolder(path: string): Promise<void>;
  /** With everything above it. @throws TandemError FILE_UNWRITABLE */
  makeFolder(path: string): Promise<void>;
  /**
   * Removes what writes into a folder have left that never ended: it may be a secret. No other process may be writing
   * there.
   */
  tidy(folder: string): Promise<void>;
}

/** A file of text. @returns null where there is no such file. @throws TandemError FILE_UNREADABLE, FILE_FORMAT */
export async function readText(storage: Storage, path: string): Promise<string | null> {
  const bytes = await storage.read(path);
  if (bytes === null) return null;
  if (bytes.length > storedTextBytesMax)
    throw new TandemError("FILE_FORMAT", `${path} is larger than a stored text may be (${storedTextBytesMax} bytes)`);
  // Bytes that are not UTF-8 stay replaced: every file has a checksum or a signature, and its reader's own advice.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

export const diskStorage: Storage = {
  read: (path) => readBounded(path, { sizeBytesMax: storedBytesMax, noun: "a stored file" }),
  write: (path, contents) => writeFileAtomically(path, contents, 0o600),
  async append(path, contents) {
    try {
      if (await appendDurably(path, contents, 0o600)) return;
      const file = await open(path, "a", 0o600);
      try {
        const isNew = (await file.stat()).size === 0;
        await file.writeFile(contents);
        await file.datasync();
        if (isNew) await syncDirectory(dirname(path));
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written (${codeOf(cause)})`, { cause });
    }
  },
  async remove(path) {
    try {
      await rm(path, { force: true });
      await syncDirectory(dirname(path));
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be removed (${codeOf(cause)})`, { cause });
    }
  },
  async removeFolder(path) {
    try {
      await rm(path, { force: true, recursive: true });
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be removed (${codeOf(cause)})`, { cause });
    }
  },
  async makeFolder(path) {
    try {
      const first = await mkdir(path, { recursive: true, mode: 0o700 });
      if (first === undefined) return;
      // What is new must be found again: each folder on the way has a new entry.
      for (let folder = path; folder.length >= first.length; folder = dirname(folder))
        await syncDirectory(dirname(folder));
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be made (${codeOf(cause)})`, { cause });
    }
  },
  async tidy(folder) {
    try {
      for (const name of await readdir(folder))
        if (isUnfinishedWrite(name)) await rm(join(folder, name), { force: true });
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT")
        throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be tidied (${codeOf(cause)})`, { cause });
    }
  },
};

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}
