import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { diskStorage, readText } from "./storage.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-storage-"));
  path = join(folder, "file");
});
afterEach(() => rm(folder, { recursive: true }));

/** Not UTF-8. */
const bytes = Uint8Array.from({ length: 256 }, (_, i) => 255 - i);
const stored = async (): Promise<number[]> => [...((await diskStorage.read(path)) ?? [])];

test("bytes are read back as written, whole, in pieces and appended", async () => {
  await diskStorage.write(path, bytes);
  expect(await stored()).toEqual([...bytes]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await diskStorage.write(path, [bytes.subarray(0, 100), "", bytes.subarray(100)]);
  expect(await stored()).toEqual([...bytes]);
  await diskStorage.append(path, bytes.subarray(0, 2));
  expect(await stored()).toEqual([...bytes, 255, 254]);
});

test("text is UTF-8", async () => {
  await diskStorage.write(path, ["né", "e "]);
  await diskStorage.append(path, "€");
  expect(await readText(diskStorage, path)).toBe("née €");
  expect(Buffer.from((await diskStorage.read(path)) ?? [])).toEqual(Buffer.from("née €"));
  expect(await readText(diskStorage, join(folder, "absent"))).toBeNull();
});
