import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FolderChanges } from "./folder-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "tandem-folder-changes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Shorter than the periodic check. */
async function isTold(changes: FolderChanges, change: () => void): Promise<boolean> {
  const woken = changes.next().then(() => true);
  change();
  return Promise.race([woken, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 900))]);
}

test("a change wakes the caller, and nothing else does", async () => {
  const ending = new AbortController();
  const changes = new FolderChanges(folder, ending.signal);
  expect(await isTold(changes, () => {})).toBe(false);
  expect(await isTold(changes, () => appendFileSync(join(folder, "a"), "x"))).toBe(true);
  ending.abort();
  expect(await changes.next()).toBe(true);
  changes.close();
});

test("a missing folder is checked often, and closing takes effect at once", async () => {
  const ending = new AbortController();
  const changes = new FolderChanges(join(folder, "later"), ending.signal);
  expect(await isTold(changes, () => {})).toBe(true);
  const waiting = changes.settle(60_000);
  ending.abort();
  expect(await waiting).toBe(true);
  changes.close();
});
