import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { assert, unreachable } from "./assert.ts";
import { errorCodes, isErrorCode, TandemError } from "./error.ts";

test("codes are recognised, and inherited property names are not", () => {
  for (const code of Object.keys(errorCodes)) expect(isErrorCode(code)).toBe(true);
  for (const code of ["toString", "__proto__", "constructor", "", "internal"]) expect(isErrorCode(code)).toBe(false);
});

test("a TandemError carries code, message and cause", () => {
  const cause = new Error("below");
  const error = new TandemError("USAGE", "say what to do", { cause });
  expect(error).toMatchObject({ name: "TandemError", code: "USAGE", message: "say what to do", cause });
  expect(error).toBeInstanceOf(Error);
  expect("cause" in new TandemError("USAGE", "no cause")).toBe(false);
});

test("assertions are internal errors and stay on", async () => {
  expect(() => assert(true, "holds")).not.toThrow();
  await expectError(() => assert(false, "it holds"), "INTERNAL", /assertion failed: it holds/);
  await expectError(() => unreachable("surprise" as never), "INTERNAL", /surprise/);
});
