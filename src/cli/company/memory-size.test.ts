import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { memoryBytes } from "./memory-size.ts";

test.each([
  ["48GB", 48e9],
  ["1.5 GB", 1.5e9],
  ["512MiB", 2 ** 29],
  ["2gib", 2 ** 31],
])("%s", (text, bytes) => {
  expect(memoryBytes("--memory", text)).toBe(bytes);
});

test.each(["", "48", "GB", "0GB", "-1GB", "48TB", "1e3GB"])("'%s' is no size", async (text) => {
  await expectError(() => memoryBytes("--memory", text), "USAGE", /--memory must be a size such as 48GB/);
});
