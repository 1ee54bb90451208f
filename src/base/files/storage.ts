/**
 * A party's durable storage. A file is either the old version or the new one, and once a write has settled it survives
 * a power failure. Simulations use their own implementation.
 */
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isUnfinishedWrite, syncDirectory, writeFileAtomically } from "./atomic-file.ts";
import { readBounded } from "./bounded-file.ts";
import { appendDurably } from "./durable-file.ts";
import { TandemError } from "../error.ts";

/** The maximum length of a Buffer in Node 20. */
const storedBytesMax = 2 ** 31 - 1;
/** The margins of forty million instances as base64; V8 strings are limited to 2^29 characters. */
const storedTextBytesMax = 2 ** 29 - 1024;

/** Text is stored as UTF-8. */
export type Piece = string | Uint8Array;
/** All of it, or pieces that are written as they are produced. */
export type Contents = Piece | Iterable<Piece>;

export interface Storage {
  /** Null if there is no such file. @throws TandemError FILE_UNREADABLE */
  read(path: string): Promise<Uint8Array | null>;
  /** Readable by its owner only. @throws TandemError FILE_UNWRITABLE */
  write(path: string, contents: Contents): Promise<void>;
  /**
   * Appends to a file, or creates it. An append that never settled may be partly there, after all that did settle.
   * @throws TandemError FILE_UNWRITABLE
   */
  append(path: string, contents: Piece): Promise<void>;
  /** No effect if there is no such file. @throws TandemError FILE_UNWRITABLE */
  remove(path: string): Promise<void>;
  /** With all its contents. No effect if there is no such folder. @throws TandemError FILE_UNWRITABLE */
  removeFolder(path: string): Promise<void>;
  /** With all missing parents. @throws TandemError FILE_UNWRITABLE */
  makeFolder(path: string): Promise<void>;
  /** In no order; empty if there is no such folder. @throws TandemError FILE_UNREADABLE */
  list(folder: string): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
  /** Bytes of a file; 0 if there is none. @throws TandemError FILE_UNREADABLE */
  size(path: string): Promise<number>;
  /**
   * Removes the remains of interrupted writes into a folder, which may be secrets. No other process may be writing
   * there.
   */
  tidy(folder: string): Promise<void>;
}

/** Reads a text file. @returns null if there is no such file. @throws TandemError FILE_UNREADABLE, FILE_FORMAT */
export async function readText(storage: Storage, path: string): Promise<string | null> {
  const bytes = await storage.read(path);
  if (bytes === null) return null;
  if (bytes.length > storedTextBytesMax)
    throw new TandemError("FILE_FORMAT", `${path} is larger than a stored text may be (${storedTextBytesMax} bytes)`);
  // Invalid UTF-8 is replaced: every file has a checksum or a signature, whose error has its own advice.
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
      // Each folder on the way has a new entry, which must be durable too.
      for (let folder = path; folder.length >= first.length; folder = dirname(folder))
        await syncDirectory(dirname(folder));
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be created (${codeOf(cause)})`, { cause });
    }
  },
  async list(folder) {
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    } catch (cause) {
      if (isMissing(cause)) return [];
      throw new TandemError("FILE_UNREADABLE", `${folder} cannot be read (${codeOf(cause)})`, { cause });
    }
  },
  async size(path) {
    try {
      return (await stat(path)).size;
    } catch (cause) {
      if (isMissing(cause)) return 0;
      throw new TandemError("FILE_UNREADABLE", `${path} cannot be read (${codeOf(cause)})`, { cause });
    }
  },
  async tidy(folder) {
    try {
      for (const name of await readdir(folder))
        if (isUnfinishedWrite(name)) await rm(join(folder, name), { force: true });
    } catch (cause) {
      if (!isMissing(cause))
        throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be cleaned up (${codeOf(cause)})`, { cause });
    }
  },
};

function isMissing(cause: unknown): boolean {
  return codeOf(cause) === "ENOENT";
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}
