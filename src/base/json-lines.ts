/**
 * A file of JSON values, one per line, that only grows: each value is written with one call, so that a process that dies
 * leaves whole lines and at the most one torn one at the end, which readers pass over. Bounded: past the bound nothing
 * more is written.
 */
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { TandemError } from "./error.ts";

export class JsonLinesFile {
  readonly #path: string;
  readonly #sizeBytesMax: number;
  #descriptor: number | null;
  #sizeBytes: number;

  /** Continues a file that exists. @throws TandemError FILE_UNWRITABLE */
  constructor(path: string, sizeBytesMax: number) {
    this.#path = path;
    this.#sizeBytesMax = sizeBytesMax;
    try {
      this.#descriptor = openSync(path, "a+", 0o600);
      fchmodSync(this.#descriptor, 0o600);
      this.#sizeBytes = fstatSync(this.#descriptor).size;
      if (this.#sizeBytes > 0 && lastByte(this.#descriptor, this.#sizeBytes) !== newline) this.#write("\n"); // after a torn line
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  /** Small writes to a local file: not worth a turn of the event loop. */
  append(value: unknown): void {
    const line = `${JSON.stringify(value)}\n`;
    if (this.#descriptor === null || this.#sizeBytes + Buffer.byteLength(line) > this.#sizeBytesMax) return;
    try {
      this.#write(line);
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  close(): void {
    if (this.#descriptor === null) return;
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #write(line: string): void {
    if (this.#descriptor !== null) this.#sizeBytes += writeSync(this.#descriptor, line);
  }

  #unwritable(cause: unknown): TandemError {
    return new TandemError("FILE_UNWRITABLE", `${this.#path} cannot be written`, { cause });
  }
}

const newline = 10;

function lastByte(descriptor: number, size: number): number {
  const byte = new Uint8Array(1);
  readSync(descriptor, byte, 0, 1, size - 1);
  return byte[0];
}

/** Reads such a file from a position on, whole lines only: again and again while it grows. */
export class JsonLinesReader {
  readonly path: string;
  #offset = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** The values since the last call; none while there is no file. Lines that are no JSON are passed over. */
  async next(): Promise<unknown[]> {
    const file = await open(this.path, "r").catch(() => null);
    if (file === null) return [];
    try {
      const { size } = await file.stat();
      if (size <= this.#offset) return [];
      const bytes = Buffer.alloc(size - this.#offset);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#offset);
      const whole = bytes.subarray(0, bytesRead).lastIndexOf(newline) + 1;
      this.#offset += whole;
      return bytes.toString("utf8", 0, whole).split("\n").flatMap(parsedLine);
    } finally {
      await file.close();
    }
  }
}

function parsedLine(line: string): unknown[] {
  if (line === "") return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
