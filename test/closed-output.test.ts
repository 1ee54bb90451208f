/** The built command where the reader of its output has ended, as after `| head`. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTandem } from "./world/tandem-process.ts";

test("the command finishes its work, and ends without an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-closed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const process = startTandem(["init", "passive", "--out", folder]);
  process.child.stdout?.destroy();
  expect(await process.finished).toMatchObject({ exitCode: 0, stderr: "" });
  expect(existsSync(join(folder, "passive.yaml"))).toBe(true);
});
