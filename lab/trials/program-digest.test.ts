import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { packagePath } from "../../src/base/package-root.ts";
import { programDigest, sourceDigest } from "./program-digest.ts";

const folder = mkdtempSync(join(tmpdir(), "tandem-digest-"));
for (const name of ["src", "native"]) cpSync(packagePath(name), join(folder, name), { recursive: true });
const before = sourceDigest(folder);
afterAll(() => rmSync(folder, { recursive: true }));

test("the same sources elsewhere are the same program", () => {
  expect(before).toBe(programDigest());
});

test.each([
  ["src/scheme/paillier/active.ts", true],
  ["src/wire/peer.ts", true],
  ["src/party/new.ts", true],
  ["native/addon.cpp", true],
  ["src/party/policy.test.ts", false],
  ["src/cli/main.ts", false],
  ["src/simulate/simulate.ts", false],
])("with another %s it is another program: %s", (path, isOther) => {
  const previous = sourceDigest(folder);
  writeFileSync(join(folder, path), "// changed\n");
  expect(sourceDigest(folder) !== previous).toBe(isOther);
});
