/**
 * An append-only file of JSON values, one per line: each value is written with one call, so that a process that dies
 * leaves complete lines and at most one incomplete one at the end, which readers skip. Bounded: beyond the bound
 * nothing more is written.
 */
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { TandemError } from "../error.ts";

export class JsonLinesFile {
  readonly #path: string;
  readonly #sizeBytesMax: number;
  #descriptor: number | null;
  #sizeBytes: number;

  /** Continues an existing file. @throws TandemError FILE_UNWRITABLE */
  constructor(path: string, sizeBytesMax: number) {
    this.#path = path;
    this.#sizeBytesMax = sizeBytesMax;
    try {
      this.#descriptor = openSync(path, "a+", 0o600);
      fchmodSync(this.#descriptor, 0o600);
      this.#sizeBytes = fstatSync(this.#descriptor).size;
      const isTorn = this.#sizeBytes > 0 && lastByte(this.#descriptor, this.#sizeBytes) !== newline;
      if (isTorn) this.#write("\n");
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  /** Synchronous: small writes to a local file are not worth a trip through the event loop. */
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

/** The maximum of one step through a file, so that a long file does not block the event loop. */
const stepBytes = 256 << 10;

/** Longer lines are skipped, like invalid JSON: a string could not hold them. */
const lineBytesMax = 1 << 28;

/**
 * Follows such a file from a position on, complete lines only, as text. It reads synchronously: a local file answers
 * sooner than the thread pool, which the arithmetic of a job keeps busy.
 */
export class LineTail {
  readonly #path: string;
  readonly #lineBytesMax: number;
  #offset: number;
  #more = false;

  constructor(path: string, offset = 0, longestBytes = lineBytesMax) {
    this.#path = path;
    this.#offset = offset;
    this.#lineBytesMax = longestBytes;
  }

  /** The number of bytes returned so far. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether the last step left something for another one. */
  get more(): boolean {
    return this.#more;
  }

  /** Whether something was appended since the last step. */
  get grown(): boolean {
    return this.#size() > this.#offset;
  }

  /** The next lines; empty if there are none, or no file. */
  next(): string[] {
    const size = this.#size();
    this.#more = false;
    for (let wanted = stepBytes; size > this.#offset; wanted *= 2) {
      const bytes = this.#read(Math.min(wanted, size - this.#offset));
      const whole = bytes.lastIndexOf(newline) + 1;
      const atEnd = bytes.length < wanted;
      if (whole === 0 && wanted > this.#lineBytesMax) return this.#passOver(size);
      if (whole === 0 && !atEnd) continue; // a line longer than a step
      this.#offset += whole;
      this.#more = !atEnd;
      return bytes
        .toString("utf8", 0, whole)
        .split("\n")
        .filter((line) => line !== "");
    }
    return [];
  }

  /** Continues after the line that begins here; at the end of the file if it is incomplete. */
  #passOver(size: number): string[] {
    for (let found = false; !found && this.#offset < size;) {
      const bytes = this.#read(Math.min(stepBytes, size - this.#offset));
      if (bytes.length === 0) break;
      const end = bytes.indexOf(newline) + 1;
      found = end > 0;
      this.#offset += found ? end : bytes.length;
    }
    this.#more = this.#offset < size;
    return [];
  }

  /** An unreadable file is treated as empty: its contents are informational. */
  #size(): number {
    try {
      return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      return 0;
    }
  }

  #read(length: number): Buffer {
    let descriptor: number | null = null;
    try {
      descriptor = openSync(this.#path, "r");
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, this.#offset));
    } catch {
      return Buffer.alloc(0);
    } finally {
      if (descriptor !== null) closeSync(descriptor);
    }
  }
}

/** Reads such a file as values, repeatedly while it grows. */
export class JsonLinesReader {
  readonly #tail: LineTail;

  constructor(path: string) {
    this.#tail = new LineTail(path);
  }

  /** The values since the last call; empty while there is no file. Invalid JSON lines are skipped. */
  async next(): Promise<unknown[]> {
    const values: unknown[] = [];
    do {
      for (const line of this.#tail.next()) values.push(...parsedLine(line));
      if (this.#tail.more) await setImmediate();
    } while (this.#tail.more);
    return values;
  }
}

function parsedLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
