/**
 * The bins of each block as a file of its own, where the party's workers can read it: feature by feature, one byte a
 * row where all bins fit, otherwise two, little-endian; as text, since that is what a storage keeps. Who has the file's
 * digest knows that it is the one that the party wrote.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import type { BinColumns } from "../scheme/blocks/block.ts";

/** A multiple of three: pieces of base64 can be put together. */
const pieceBytes = 3 << 18;
const nameSyntax = /^[0-9A-Za-z]+\/[0-9]+\.bins$/;

export class BlockFiles {
  readonly #storage: Storage;
  readonly #folder: string;

  /** @param folder the crew's alone, and the same for party and workers */
  constructor(storage: Storage, folder: string) {
    this.#storage = storage;
    this.#folder = folder;
  }

  /** Removes what is left of older epochs. */
  async begin(epoch: string): Promise<void> {
    await this.#storage.removeFolder(this.#folder);
    await this.#storage.makeFolder(join(this.#folder, epoch));
  }

  async write(epoch: string, block: number, columns: BinColumns): Promise<{ file: string; digest: Uint8Array }> {
    const file = `${epoch}/${block}.bins`;
    const bytes = bytesOf(columns);
    await this.#storage.write(join(this.#folder, file), base64Of(bytes));
    return { file, digest: createHash("sha256").update(bytes).digest() };
  }

  /** @throws TandemError CHECKPOINT where the file is not what the party wrote */
  async read(file: string, digest: Uint8Array, rowCount: number, binCounts: Uint32Array): Promise<BinColumns> {
    const text = nameSyntax.test(file) ? await this.#storage.read(join(this.#folder, file)) : null;
    if (text === null) throw new TandemError("CHECKPOINT", "the bins of a block are not in the folder of the crew");
    const bytes = Buffer.from(text, "base64");
    const width = bytes.length / (rowCount * binCounts.length);
    const isWhole = createHash("sha256").update(bytes).digest().equals(digest);
    if (!isWhole || (binCounts.length > 0 && width !== 1 && width !== 2))
      throw new TandemError("CHECKPOINT", "the bins of a block are not those that its party wrote");
    const bins = Array.from(binCounts, (_, feature) => columnOf(bytes, feature * rowCount * width, rowCount, width));
    return { bins, binCounts };
  }

  async end(epoch: string): Promise<void> {
    await this.#storage.removeFolder(join(this.#folder, epoch));
  }
}

function bytesOf({ bins }: BinColumns): Buffer {
  const isNarrow = bins.every((column) => column.every((bin) => bin < 256));
  const width = isNarrow ? 1 : 2;
  const rowCount = bins[0]?.length ?? 0;
  const bytes = Buffer.alloc(bins.length * rowCount * width);
  bins.forEach((column, feature) => {
    const first = feature * rowCount * width;
    if (isNarrow) bytes.set(column, first);
    else column.forEach((bin, row) => bytes.writeUInt16LE(bin, first + 2 * row));
  });
  return bytes;
}

function* base64Of(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.toString("base64", at, at + pieceBytes);
}

function columnOf(bytes: Buffer, first: number, rowCount: number, width: number): Uint16Array {
  if (width === 1) return Uint16Array.from(bytes.subarray(first, first + rowCount));
  return Uint16Array.from({ length: rowCount }, (_, row) => bytes.readUInt16LE(first + 2 * row));
}
