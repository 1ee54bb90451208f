import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { mysqlTrouble } from "./mysql-trouble.ts";

const error = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);

test.each([
  [error("Access denied for user 'reader'@'10.0.0.1'", { errno: 1045 }), /^data\.mysql: the server does not accept/],
  [error("Unknown column 'salery' in 'field list'", { errno: 1054 }), /says: Unknown column 'salery'.*\(error 1054\)$/],
  [
    error(
      "You have an error in your SQL syntax; check the manual for the right syntax to use near 'selec 1' at line 1",
      {
        errno: 1064,
      },
    ),
    /the server says: syntax error near 'selec 1' at line 1 \(error 1064\)$/,
  ],
  [error("Duplicate entry 'Jane Doe' for key 'x'", { errno: 1062 }), /^data\.mysql: the query failed \(error 1062\)$/],
  [error("Query execution was interrupted", { errno: 3024 }), /it took longer than timeout_seconds/],
  [error("server says no", { code: "HANDSHAKE_NO_SSL_SUPPORT" }), /offers no TLS.*'tls: insecure_off'/],
  [error("self-signed certificate", { code: "HANDSHAKE_SSL_ERROR" }), /certificate is not trusted.*'authority'/],
  [error("connect", { code: "ECONNREFUSED", errno: -111 }), /cannot be reached, or was lost \(ECONNREFUSED\)/],
  [error("getaddrinfo", { code: "EAI_AGAIN" }), /cannot be reached, or was lost \(EAI_AGAIN\)/],
  [error("Connection lost", { code: "PROTOCOL_CONNECTION_LOST" }), /the connection to the server was lost/],
  [error("timeout"), /the server does not answer/],
  [error("Jane Doe"), /^data\.mysql: the query failed$/],
  ["Jane Doe", /^data\.mysql: the query failed$/],
])("%s", (given, says) => {
  const { code, message } = mysqlTrouble(given, "data.mysql", 0);
  expect(code).toBe("FILE_UNREADABLE");
  expect(message).toMatch(says);
  expect(message).not.toMatch(/reader|Jane/);
});

test("a known error stays, and others say after how many rows", () => {
  const known = new TandemError("FILE_FORMAT", "it gives no columns");
  expect(mysqlTrouble(known, "data.mysql", 3)).toBe(known);
  expect(mysqlTrouble(error("x", { code: "ECONNRESET" }), "data.mysql", 3).message).toMatch(
    /ECONNRESET\) \(after 3 rows\)$/,
  );
});
