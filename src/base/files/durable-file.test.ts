import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appendDurably, writeDurably } from "./durable-file.ts";
import { plainAddon } from "../plain-addon.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-durable-"));
});
afterEach(() => rm(folder, { recursive: true }));

const isHere = plainAddon() !== null && process.platform !== "win32";

test.skipIf(!isHere)("text is appended, in a file readable by its owner only", async () => {
  const path = join(folder, "lines \u00e4");
  expect(await appendDurably(path, "one\n", 0o600)).toBe(true);
  expect(await appendDurably(path, "zwei \u00e4\n", 0o600)).toBe(true);
  expect(await readFile(path, "utf8")).toBe("one\nzwei \u00e4\n");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await expect(appendDurably(join(folder, "no", "file"), "x", 0o600)).rejects.toMatchObject({ code: "ENOENT" });
});

test.skipIf(!isHere)("a file is replaced as a whole, or nothing changes and nothing remains", async () => {
  const [path, temporary] = [join(folder, "file"), join(folder, "new")];
  await writeFile(path, "old");
  expect(await writeDurably(temporary, path, "new", 0o640)).toBe(true);
  expect(await readFile(path, "utf8")).toBe("new");
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  await mkdir(join(folder, "sub"));
  await expect(writeDurably(temporary, join(folder, "sub"), "x", 0o600)).rejects.toMatchObject({ code: "EISDIR" });
  await writeFile(temporary, "another process's");
  await expect(writeDurably(temporary, path, "x", 0o600)).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(temporary, "utf8")).toBe("another process's");
  expect((await readdir(folder)).toSorted()).toEqual(["file", "new", "sub"]);
});
