import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { realWorld } from "./world.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-world-"));
afterAll(() => rmSync(root, { recursive: true }));

test("a job that stored nothing leaves no folder; one that stored something keeps all of it", async () => {
  const folder = join(root, "jobs", "spring");
  const release = await realWorld.lock(folder);
  expect(existsSync(folder)).toBe(true);
  await expectError(() => realWorld.lock(folder), "PARTY_BUSY");
  expect(existsSync(folder)).toBe(true);
  await release();
  expect(existsSync(folder)).toBe(false);

  const again = await realWorld.lock(folder);
  writeFileSync(join(folder, "checkpoint.json"), "{}");
  await again();
  expect(readdirSync(folder)).toEqual(["checkpoint.json"]);
});
