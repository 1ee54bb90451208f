import fc from "fast-check";
import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { mysqlForm, parseAddress, postgresForm } from "./server-address.ts";

test.each([
  ["postgres://u@h/d", { host: "h", port: 5432, user: "u", password: "", database: "d" }],
  [
    "postgresql://u%40x:a%2Fb%25@db.example:6000/my%20db\n",
    { user: "u@x", password: "a/b%", database: "my db", port: 6000 },
  ],
  ["postgres://u:p@[::1]/d", { host: "::1" }],
  ["postgres://u@localhost/d?host=/run/postgresql", { host: "/run/postgresql" }],
  ["mysql://u:p%40@h/d", { host: "h", port: 3306, user: "u", password: "p@", database: "d" }],
  ["mariadb://u@localhost/d?socket=/run/mysqld/mysqld.sock", { host: "/run/mysqld/mysqld.sock" }],
])("%s", (text, expected) => {
  expect(parseAddress("x", text, text.startsWith("p") ? postgresForm : mysqlForm)).toMatchObject(expected);
});

test.each([
  ["postgres://u@h/d?sslmode=no", postgresForm, /has the parameter 'sslmode'\. Of those only host/],
  ["mysql://u@h/d", postgresForm, /not a connection string of the form postgres/],
  ["postgres://u@h", postgresForm, /names no user, no host or no database/],
  ["postgres://u@h/d", mysqlForm, /not a connection string of the form mysql/],
  ["mysql://u@h/d?ssl=true", mysqlForm, /has the parameter 'ssl'\. Of those only socket, the path of a socket/],
])("%s is refused", (text, form, says) => {
  expect(() => parseAddress("x", text, form)).toThrow(says);
});

test("no part of it is ever in a message", () => {
  const piece = fc.constantFrom(
    "hunter2",
    "postgres",
    "mysql",
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
    fc.property(fc.array(piece, { maxLength: 14 }), fc.constantFrom(postgresForm, mysqlForm), (pieces, form) => {
      try {
        parseAddress("the file", pieces.join(""), form);
      } catch (error) {
        expect(error).toBeInstanceOf(TandemError);
        expect((error as TandemError).message).not.toContain("hunter2");
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});
