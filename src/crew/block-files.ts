/**
 * The bins of each block in separate files that the party's workers can read: feature by feature, one byte per row if
 * all bins fit, otherwise two, little-endian. A block with many columns has several files with some of its features
 * each, so that only one file at a time is in memory in addition to the columns. A digest over all files proves to a
 * worker that they are those that the party wrote.
 *
 *   <folder>/made-epoch.txt          the epoch whose folder exists
 *   <folder>/<epoch>/<block>.bins    and <block>.1.bins, <block>.2.bins ...
 *
 * Only the folder of the epoch that made-epoch.txt names is ever removed: other files in the folder are not the crew's.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { readText, type Storage } from "../base/files/storage.ts";
import type { BinColumns } from "../scheme/blocks/block.ts";

/** Without a path, because the message may reach the other company. */
const notInFolder =
  "the bins of a block are not in the folder of the crew. Compare folder in worker.yaml with crew.folder of the party";

const nameSyntax = /^[0-9A-Za-z]+\/[0-9]+\.bins$/;
const epochSyntax = /^[0-9A-Za-z]+$/;
/** Maximum of one file; a single feature may exceed it. */
const fileBytesMax = 48 << 20;

export class BlockFiles {
  readonly #storage: Storage;
  readonly #folder: string;
  readonly #fileBytesMax: number;

  /** @param folder the same for party and workers */
  constructor(storage: Storage, folder: string, bytesMax = fileBytesMax) {
    this.#storage = storage;
    this.#folder = folder;
    this.#fileBytesMax = bytesMax;
  }

  /** Removes the folder of the previous epoch. */
  async begin(epoch: string): Promise<void> {
    const before = await this.#made();
    if (before !== null) await this.#storage.removeFolder(join(this.#folder, before));
    await this.#storage.makeFolder(this.#folder);
    await this.#storage.write(this.#madePath, `${epoch}\n`); // before the folder is created, to find it after a crash
    await this.#storage.makeFolder(join(this.#folder, epoch));
  }

  async write(epoch: string, block: number, { bins }: BinColumns): Promise<{ file: string; digest: Uint8Array }> {
    const file = `${epoch}/${block}.bins`;
    const width = bins.every(isNarrow) ? 1 : 2;
    const hash = createHash("sha256");
    for (const { name, first, end } of this.#filesOf(file, bins[0]?.length ?? 0, bins.length)) {
      const bytes = bytesOf(bins.slice(first, end), width);
      hash.update(bytes);
      await this.#storage.write(join(this.#folder, name), bytes);
    }
    return { file, digest: hash.digest() };
  }

  /** @throws TandemError CHECKPOINT if a file is not what the party wrote */
  async read(file: string, digest: Uint8Array, rowCount: number, binCounts: Uint32Array): Promise<BinColumns> {
    const hash = createHash("sha256");
    const bins: Uint16Array[] = [];
    for (const { name, first, end } of this.#filesOf(file, rowCount, binCounts.length)) {
      const bytes = nameSyntax.test(file) ? await this.#storage.read(join(this.#folder, name)) : null;
      if (bytes === null) throw new TandemError("CHECKPOINT", notInFolder);
      hash.update(bytes);
      const width = bytes.length / (rowCount * (end - first));
      if (end > first && width !== 1 && width !== 2) throw changed();
      for (let feature = first; feature < end; feature++)
        bins.push(columnOf(bytes, (feature - first) * rowCount * width, rowCount, width));
    }
    if (!hash.digest().equals(digest)) throw changed();
    return { bins, binCounts };
  }

  /** No effect if a later epoch has begun, which has removed this one. */
  async end(epoch: string): Promise<void> {
    if ((await this.#made()) !== epoch) return;
    await this.#storage.removeFolder(join(this.#folder, epoch));
    await this.#storage.remove(this.#madePath);
  }

  get #madePath(): string {
    return join(this.#folder, "made-epoch.txt");
  }

  /** The epoch whose folder this party has created and not removed. */
  async #made(): Promise<string | null> {
    const epoch = (await readText(this.#storage, this.#madePath))?.trim() ?? "";
    return epochSyntax.test(epoch) ? epoch : null;
  }

  /** Which features are in which file: the same for one and two bytes per row. */
  *#filesOf(
    file: string,
    rowCount: number,
    featureCount: number,
  ): Generator<{ readonly name: string; readonly first: number; readonly end: number }> {
    const perFile = Math.max(1, Math.floor(this.#fileBytesMax / (2 * Math.max(1, rowCount))));
    for (let first = 0, i = 0; i === 0 || first < featureCount; first += perFile, i++) {
      const name = i === 0 ? file : file.replace(/\.bins$/, `.${i}.bins`);
      yield { name, first, end: Math.min(featureCount, first + perFile) };
    }
  }
}

function changed(): TandemError {
  return new TandemError("CHECKPOINT", "the bins of a block are not those that its party wrote");
}

function isNarrow(column: Uint16Array): boolean {
  for (let row = 0; row < column.length; row++) if (column[row] > 255) return false;
  return true;
}

function bytesOf(bins: readonly Uint16Array[], width: 1 | 2): Buffer {
  const rowCount = bins[0]?.length ?? 0;
  const bytes = Buffer.alloc(bins.length * rowCount * width);
  bins.forEach((column, feature) => {
    const first = feature * rowCount * width;
    if (width === 1) bytes.set(column, first);
    else for (let row = 0; row < rowCount; row++) bytes.writeUInt16LE(column[row], first + 2 * row);
  });
  return bytes;
}

function columnOf(bytes: Uint8Array, first: number, rowCount: number, width: number): Uint16Array {
  const column = new Uint16Array(rowCount);
  if (width === 1) column.set(bytes.subarray(first, first + rowCount));
  else for (let row = 0, at = first; row < rowCount; row++, at += 2) column[row] = bytes[at] | (bytes[at + 1] << 8);
  return column;
}
