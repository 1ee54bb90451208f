import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FolderChanges } from "./folder-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "tandem-folder-changes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hourMs = 3_600_000;

/** Within this time, or before the test is out of time. */
async function isWoken(changes: FolderChanges, change: () => void, ms = hourMs): Promise<boolean> {
  const woken = changes.next().then(() => true);
  change();
  return Promise.race([woken, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ms).unref())]);
}

test("a change wakes the caller, and nothing else does", async () => {
  const ending = new AbortController();
  const changes = new FolderChanges(folder, ending.signal, hourMs);
  expect(await isWoken(changes, () => {}, 300)).toBe(false);
  expect(await isWoken(changes, () => appendFileSync(join(folder, "a"), "x"))).toBe(true);
  ending.abort();
  expect(await changes.next()).toBe(true);
  changes.close();
});

test("a missing folder is checked often, and closing takes effect at once", async () => {
  const ending = new AbortController();
  const changes = new FolderChanges(join(folder, "later"), ending.signal);
  expect(await isWoken(changes, () => {})).toBe(true);
  const waiting = changes.settle(60_000);
  ending.abort();
  expect(await waiting).toBe(true);
  changes.close();
});
