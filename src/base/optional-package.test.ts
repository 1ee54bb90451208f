import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { isMissingPackage, withPackages } from "./optional-package.ts";

const wanted = { feature: "data.postgres", packages: ["pg", "pg-cursor"] };
const noPackage: string = "no-such-package";
const noFile: string = "./no-such-file.ts";

test("an installed package is loaded", async () => {
  expect(await withPackages(wanted, () => import("node:os"))).toHaveProperty("cpus");
});

test.each([
  ["import()", Object.assign(new Error(`Cannot find package '${noPackage}'`), { code: "ERR_MODULE_NOT_FOUND" })],
  ["require()", thrownBy(() => createRequire(import.meta.url)(noPackage))],
])("a package that %s does not find is named with the command that installs it", async (_, missing) => {
  await expectError(
    () => withPackages(wanted, () => Promise.reject(missing)),
    "USAGE",
    /^data\.postgres needs pg and pg-cursor, which are not installed here; run: npm install pg pg-cursor$/,
  );
});

test("a missing file of our own and other errors are rethrown", async () => {
  expect(isMissingPackage(thrownBy(() => createRequire(import.meta.url)(noFile)))).toBe(false);
  const other = new Error("a bug");
  await expect(withPackages(wanted, () => Promise.reject(other))).rejects.toBe(other);
});

function thrownBy(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
