/**
 * Errors of a MySQL server, as messages that may be logged. The server's own message is used only if it is about names
 * in the query: others quote values of rows, or the user.
 */
import { TandemError } from "../../base/error.ts";
import { codeAndMessage, connectionWords } from "./server-trouble.ts";

const messageCharsMax = 200;

const tooLong = "the query was cancelled: it took longer than timeout_seconds, or was stopped";
const ended = "the server has ended the connection";
const noneLeft = "the server has no connection left: try again later";
const noRight = "the user has no right to a table or a column of the query";
const notTaken = "the query must be a SELECT";

const byNumber: Readonly<Record<number, string>> = {
  1040: noneLeft,
  1044: "the user has no right to this database",
  1045: "the server does not accept this user with this password",
  1053: "the server is starting or stopping: try again later",
  1130: "the server does not allow connections from this host",
  1142: noRight,
  1143: noRight,
  1203: noneLeft,
  1226: noneLeft,
  1290: "the query writes, but must be read-only",
  1295: notTaken,
  1317: tooLong,
  1698: "the server does not accept this user with this password",
  1792: "the query writes, but must be read-only",
  1927: ended,
  1969: tooLong,
  3024: tooLong,
  3159: "the server demands TLS: leave 'tls' out of the config",
};

/** Of the query's own names: databases, tables, columns, functions; and its syntax. */
const aboutNames = new Set([1046, 1049, 1052, 1054, 1055, 1064, 1146, 1248, 1305]);

/** @param field of the config, for messages. @param rowCount how many rows had been read */
export function mysqlTrouble(error: unknown, field: string, rowCount: number): TandemError {
  if (error instanceof TandemError) return error;
  const after = rowCount === 0 ? "" : ` (after ${rowCount} rows)`;
  return new TandemError("FILE_UNREADABLE", `${field}: ${wordsFor(error)}${after}`);
}

function wordsFor(error: unknown): string {
  const { code, message } = codeAndMessage(error);
  const number = error instanceof Error && "errno" in error ? Number(error.errno) : NaN;
  if (code === "HANDSHAKE_NO_SSL_SUPPORT")
    return "the server offers no TLS. If the network is secure without TLS, set 'tls: insecure_off'";
  if (code === "HANDSHAKE_SSL_ERROR")
    return "the server's certificate is not trusted. 'authority' names the one that has signed it";
  if (code === "PROTOCOL_CONNECTION_LOST") return "the connection to the server was lost";
  // Numbers of the system's errors are negative.
  if (number > 0) return ofServer(number, message);
  return connectionWords(code, message) ?? "the query failed";
}

function ofServer(number: number, message: string): string {
  if (Object.hasOwn(byNumber, number)) return byNumber[number];
  if (!aboutNames.has(number)) return `the query failed (error ${number})`;
  const words = message.replace(/^You have an error in your SQL syntax;.*? to use near/s, "syntax error near");
  return `the server says: ${words.split("\n")[0].slice(0, messageCharsMax)} (error ${number})`;
}
