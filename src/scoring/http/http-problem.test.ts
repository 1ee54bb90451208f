/** Which side an HTTP error blames. */
import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { fromWireError, toWireError } from "../../transport/wire-error.ts";
import { toHttpProblem } from "./http-problem.ts";

test("an error that a passive party reports is a bad gateway, whatever its code", () => {
  const own = new TandemError("FILE_UNREADABLE", "data.csv cannot be read");
  expect(toHttpProblem(own)).toEqual({
    status: 500,
    code: "INTERNAL",
    message: "an internal error; the server's log has it",
  });
  const reported = fromWireError(toWireError(own), "retailer");
  expect(toHttpProblem(reported)).toEqual({
    status: 502,
    code: "FILE_UNREADABLE",
    message: "data.csv cannot be read",
  });
  const named = new TandemError(reported.code, `party retailer: ${reported.message}`, { cause: reported });
  expect(toHttpProblem(named).status).toBe(502);
  expect(toHttpProblem(fromWireError(toWireError(new Error("a bug")), "retailer")).status).toBe(503);
});
