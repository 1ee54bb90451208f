/** Errors as HTTP sees them: a status, and code and message as everywhere. */
import { type ErrorCode, TandemError } from "../../base/error.ts";
import { isPeerError } from "../../transport/wire-error.ts";

/** An error of the request itself. */
export class HttpProblem extends TandemError {
  readonly status: number;

  constructor(status: number, code: ErrorCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

const statuses: Partial<Record<ErrorCode, number>> = {
  USAGE: 400,
  UNAUTHORISED: 401,
  OVERLOADED: 503,
  PARTY_LOST: 503,
  PARTY_BUSY: 503,
  TIMEOUT: 504,
};
/** What this party finds wrong with a passive party. */
const partyCodes: ReadonlySet<ErrorCode> = new Set([
  "MODEL_UNKNOWN",
  "POLICY",
  "CERTIFICATE",
  "HANDSHAKE_MISMATCH",
  "PROTOCOL_STATE",
]);

/** Errors of this server's own files, and internal ones, are not sent. */
export function toHttpProblem(error: unknown): {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
} {
  if (error instanceof HttpProblem) return { status: error.status, code: error.code, message: error.message };
  if (error instanceof TandemError) {
    const isOfParty = partyCodes.has(error.code) || isPeerError(error);
    const status = statuses[error.code] ?? (isOfParty ? 502 : 500);
    if (status !== 500) return { status, code: error.code, message: error.message };
  }
  return { status: 500, code: "INTERNAL", message: "an internal error; the server's log has it" };
}
