import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { lockFolder } from "./process-lock.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a folder is locked once, under any alias, until it is released", async () => {
  const folder = join(root, "deep", "jobs");
  const release = await lockFolder(folder);
  symlinkSync(folder, join(root, "alias"));
  await expectError(() => lockFolder(folder), "PARTY_BUSY", /another process is working in .*jobs/);
  await expectError(() => lockFolder(join(root, "alias")), "PARTY_BUSY");
  const other = await lockFolder(join(root, "other"));
  await release();
  await (
    await lockFolder(folder)
  )();
  await other();
});

test("a killed process releases its lock", async () => {
  const folder = join(root, "killed");
  await (
    await lockFolder(folder)
  )();
  // The same as lockFolder, in plain JavaScript.
  const script = `const net = require("node:net"), { createHash } = require("node:crypto");
    const { join } = require("node:path");
    const path = require("node:fs").realpathSync(${JSON.stringify(folder)});
    const digest = createHash("sha256").update(path).digest("hex").slice(0, 32);
    const file = join(require("node:os").tmpdir(), "tandem-" + digest + ".sock");
    const address = process.platform === "linux" ? "\\0tandem-" + digest : file;
    net.createServer().listen(address, () => console.log("held"));`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await expectError(() => lockFolder(folder), "PARTY_BUSY");
  child.kill("SIGKILL");
  await once(child, "close");
  await (
    await lockFolder(folder)
  )();
});

test("a folder that cannot be created", async () => {
  writeFileSync(join(root, "file"), "");
  await expectError(
    () => lockFolder(join(root, "file", "jobs")),
    "FILE_UNWRITABLE",
    /file\/jobs cannot be created \(ENOTDIR\)/,
  );
});
