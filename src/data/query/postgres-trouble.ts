/**
 * Errors of a PostgreSQL server, as messages that may be logged. The server's own message is used only if it is about
 * names in the query: others quote values of rows.
 */
import { TandemError } from "../../base/error.ts";
import { codeAndMessage, connectionWords } from "./server-trouble.ts";

const messageCharsMax = 200;

const byState: Readonly<Record<string, string>> = {
  "28P01": "the server does not accept this user with this password",
  "28000": "the server does not allow this user from this host",
  "25006": "the query writes, but must be read-only",
  "57014": "the query was cancelled: it took longer than timeout_seconds, or was stopped",
  "57P01": "the server has ended the connection",
  "57P02": "the server has crashed",
  "57P03": "the server is starting or stopping: try again later",
  "53300": "the server has no connection left: try again later",
};

/** Of the query's own names: syntax, unknown tables and columns, no permission; no such database, no such schema. */
const isAboutNames = /^(?:42|3D000|3F000)/;

/** @param field of the config, for messages. @param rowCount how many rows had been read */
export function postgresTrouble(error: unknown, field: string, rowCount: number): TandemError {
  if (error instanceof TandemError) return error;
  const after = rowCount === 0 ? "" : ` (after ${rowCount} rows)`;
  return new TandemError("FILE_UNREADABLE", `${field}: ${wordsFor(error)}${after}`);
}

function wordsFor(error: unknown): string {
  const { code, message } = codeAndMessage(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return ofServer(code, message);
  if (/does not support SSL/.test(message))
    return "the server offers no TLS. If the network is secure without TLS, set 'tls: off'";
  if (/SASL|password/i.test(message)) return "the server asks for a password, and there is none, or speaks another way";
  return connectionWords(code, message) ?? "the query failed";
}

function ofServer(state: string, message: string): string {
  if (Object.hasOwn(byState, state)) return byState[state];
  if (!isAboutNames.test(state)) return `the query failed (SQLSTATE ${state})`;
  return `the server says: ${message.split("\n")[0].slice(0, messageCharsMax)} (SQLSTATE ${state})`;
}
