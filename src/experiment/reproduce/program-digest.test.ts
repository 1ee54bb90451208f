import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { aroundParties, programDigest, runByParties } from "./program-digest.ts";

it("covers every folder that a party runs: a new one must be put on one side", () => {
  const source = fileURLToPath(new URL("../..", import.meta.url));
  const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...runByParties, ...aroundParties].toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  expect(programDigest()).toMatch(/^[0-9a-f]{64}$/);
});
