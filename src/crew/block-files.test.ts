import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { diskStorage } from "../base/files/storage.ts";
import type { BinColumns } from "../scheme/blocks/block.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { BlockFiles } from "./block-files.ts";

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "tandem-blocks-"))));
afterEach(() => rm(folder, { recursive: true }));

const rowCount = 100;
const columnsOf = (features: number, highest: number): BinColumns => ({
  bins: Array.from({ length: features }, (_, feature) =>
    Uint16Array.from({ length: rowCount }, (_, row) => (row * (feature + 1)) % (highest + 1)),
  ),
  binCounts: new Uint32Array(features).fill(highest + 1),
});

test("bins are read back from as many files as they need", async () => {
  const files = new BlockFiles(diskStorage, join(folder, "crew"), 2 * rowCount * 3);
  await files.begin("e1");
  for (const [block, features, highest, expected] of [
    [0, 7, 255, 3],
    [1, 7, 256, 3],
    [2, 3, 9, 1],
    [3, 0, 9, 1],
  ] as const) {
    const columns = columnsOf(features, highest);
    const { file, digest } = await files.write("e1", block, columns);
    expect(await files.read(file, digest, features === 0 ? 0 : rowCount, columns.binCounts)).toEqual(columns);
    const own = (await readdir(join(folder, "crew", "e1"))).filter((name) => name.startsWith(`${block}.`));
    expect(own).toHaveLength(expected);
  }
  await files.end("e1");
  expect(await readdir(join(folder, "crew"))).toEqual([]);
});

test("the digest does not depend on the number of files", async () => {
  const columns = columnsOf(7, 40);
  const digests = await Promise.all(
    [1, 500, undefined].map(async (bytesMax, i) => {
      const files = new BlockFiles(diskStorage, join(folder, `crew-${i}`), bytesMax);
      await files.begin("e1");
      return (await files.write("e1", 0, columns)).digest;
    }),
  );
  expect(digests[1]).toEqual(digests[0]);
  expect(digests[2]).toEqual(digests[0]);
});

test("a later file that is missing, changed or cut off is detected", async () => {
  const files = new BlockFiles(diskStorage, join(folder, "crew"), 2 * rowCount);
  await files.begin("e1");
  const columns = columnsOf(3, 40);
  const { file, digest } = await files.write("e1", 5, columns);
  const path = join(folder, "crew", "e1", "5.2.bins");
  const read = (): Promise<BinColumns> => files.read(file, digest, rowCount, columns.binCounts);
  const bytes = await readFile(path);
  expect(bytes).toHaveLength(rowCount);
  await writeFile(
    path,
    bytes.map((bin, row) => (row === 0 ? bin ^ 1 : bin)),
  );
  await expectError(read, "CHECKPOINT", /not those that its party wrote/);
  await writeFile(path, bytes.subarray(0, 40));
  await expectError(read, "CHECKPOINT", /not those that its party wrote/);
  await rm(path);
  await expectError(read, "CHECKPOINT", /not in the folder/);
});

test("only the folder of an epoch is removed: at its end, or at the beginning of the next", async () => {
  const own = join(folder, "crew");
  await mkdir(join(own, "photos"), { recursive: true });
  await writeFile(join(own, "photos", "0.bins"), "not of a crew");
  await writeFile(join(own, "notes.txt"), "neither");
  const files = new BlockFiles(diskStorage, own);
  await files.begin("e1");
  const { file, digest } = await files.write("e1", 0, columnsOf(1, 9));
  const crashed = new BlockFiles(diskStorage, own); // of another process: the first has not ended its epoch
  await crashed.begin("e2");
  await expectError(() => crashed.read(file, digest, rowCount, Uint32Array.of(10)), "CHECKPOINT", /not in the folder/);
  await files.end("e1");
  expect((await readdir(own)).sort()).toEqual(["e2", "made-epoch.txt", "notes.txt", "photos"]);
  await crashed.end("e2");
  expect((await readdir(own)).sort()).toEqual(["notes.txt", "photos"]);
  expect(await readdir(join(own, "photos"))).toEqual(["0.bins"]);
});

test.each(["../elsewhere", "", "photos/../..", "."])(
  "a record of epochs that says '%s' removes nothing",
  async (said) => {
    await mkdir(join(folder, "elsewhere"));
    await mkdir(join(folder, "crew"));
    await writeFile(join(folder, "crew", "made-epoch.txt"), said);
    await new BlockFiles(diskStorage, join(folder, "crew")).begin("e1");
    expect((await readdir(folder)).sort()).toEqual(["crew", "elsewhere"]);
    expect((await readdir(join(folder, "crew"))).sort()).toEqual(["e1", "made-epoch.txt"]);
  },
);
