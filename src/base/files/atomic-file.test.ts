import { mkdtemp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { writeFileAtomically } from "./atomic-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-atomic-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

test("text and bytes are written, and replace the old contents", async () => {
  const path = join(folder, "share");
  await writeFileAtomically(path, "first", 0o600);
  await writeFileAtomically(path, Uint8Array.of(0, 255, 10), 0o600);
  expect([...(await readFile(path))]).toEqual([0, 255, 10]);
  await writeFileAtomically(path, ["in ", "two pieces"], 0o600);
  expect(await readFile(path, "utf8")).toBe("in two pieces");
  expect(await readdir(folder)).toEqual(["share"]);
});

test.each([0o000, 0o022, 0o077, 0o777])(
  "the mode is the requested one under umask %o, also over a file with a wider mode",
  async (umask) => {
    const path = join(folder, "share");
    const before = process.umask(umask);
    try {
      await writeFileAtomically(path, "x", 0o600);
      await writeFileAtomically(join(folder, "public"), "x", 0o644);
    } finally {
      process.umask(before);
    }
    expect(await modeOf(path)).toBe("600");
    expect(await modeOf(join(folder, "public"))).toBe("644");
    await writeFile(join(folder, "open"), "x", { mode: 0o666 });
    await writeFileAtomically(join(folder, "open"), "y", 0o600);
    expect(await modeOf(join(folder, "open"))).toBe("600");
  },
);

describe("a write that fails", () => {
  test("into a folder that does not exist: FILE_UNWRITABLE with the path", async () => {
    await expectError(
      () => writeFileAtomically(join(folder, "no", "share"), "x", 0o600),
      "FILE_UNWRITABLE",
      /no\/share .*ENOENT/,
    );
  });

  test("at the rename: no temporary file remains, and the old contents survive", async () => {
    await mkdir(join(folder, "share"));
    await writeFile(join(folder, "share", "inside"), "old");
    await expectError(
      () => writeFileAtomically(join(folder, "share"), "new", 0o600),
      "FILE_UNWRITABLE",
      /share cannot be written/,
    );
    expect(await readdir(folder)).toEqual(["share"]);
    expect(await readFile(join(folder, "share", "inside"), "utf8")).toBe("old");
  });

  test("while the contents are written: the old version is whole", async () => {
    const path = join(folder, "share");
    await writeFileAtomically(path, "old", 0o600);
    const unwritable = { toString: () => "no" } as unknown as string;
    await expectError(() => writeFileAtomically(path, unwritable, 0o600), "FILE_UNWRITABLE", /share cannot be written/);
    expect(await readFile(path, "utf8")).toBe("old");
    expect(await readdir(folder)).toEqual(["share"]);
  });
});
