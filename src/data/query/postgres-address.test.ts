import fc from "fast-check";
import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { parseAddress } from "./postgres-address.ts";

test.each([
  ["postgres://u@h/d", { host: "h", port: 5432, user: "u", password: "", database: "d" }],
  [
    "postgresql://u%40x:a%2Fb%25@db.example:6000/my%20db\n",
    { user: "u@x", password: "a/b%", database: "my db", port: 6000 },
  ],
  ["postgres://u:p@[::1]/d", { host: "::1" }],
  ["postgres://u@localhost/d?host=/run/postgresql", { host: "/run/postgresql" }],
])("%s", (text, expected) => {
  expect(parseAddress("x", text)).toMatchObject(expected);
});

test.each([
  ["postgres://u@h/d?sslmode=no", /has the parameter 'sslmode'/],
  ["mysql://u@h/d", /not a connection string of the form postgres/],
  ["postgres://u@h", /names no user, no host or no database/],
])("%s is refused", (text, says) => {
  expect(() => parseAddress("x", text)).toThrow(says);
});

test("no part of it is ever in a message", () => {
  const piece = fc.constantFrom(
    "hunter2",
    "postgres",
    "://",
    ":",
    "@",
    "/",
    "?",
    "=",
    "%",
    "%zz",
    "[",
    " ",
    "#",
    "host",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      try {
        parseAddress("the file", pieces.join(""));
      } catch (error) {
        expect(error).toBeInstanceOf(TandemError);
        expect((error as TandemError).message).not.toContain("hunter2");
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});
