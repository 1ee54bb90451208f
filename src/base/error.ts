/**
 * The error class for everything outside the program: wrong files, wrong options, peers that deviate or vanish. A
 * message says what is wrong, where (file, line, option or party), and what to do. It never contains a row's value, a
 * gradient, a threshold or a key: peers and logs see it. Our own bugs are assertions (assert.ts).
 */

/** Every code, with what it means; docs/errors.md lists the same codes and a test compares the two. */
export const errorCodes = {
  USAGE: "an option or parameter is unknown, malformed or out of bounds",
  FILE_UNREADABLE: "a file is missing, cannot be read, or is a secret with too wide permissions",
  FILE_UNWRITABLE: "a file or directory cannot be written",
  FILE_FORMAT: "a file is not in the expected format, or a row has the wrong number of cells",
  COLUMN_UNKNOWN: "a named column is not in the file",
  COLUMN_SHARED: "a column is assigned to two parties, or used twice",
  ID_DUPLICATE: "an id occurs on two lines of one file",
  ID_MISMATCH: "the files of two parties do not list the same ids in the same order",
  CELL_UNPARSABLE: "a cell is neither a number nor a missing value",
  LABEL_INVALID: "the label column cannot be trained on: one class only, missing, or outside the objective's range",
  WEIGHT_INVALID: "an instance weight is negative or not a number, or all weights are zero",
  KEY_TOO_SHORT: "the key is shorter than 2048 bits without an insecure option, or too short for the slot layout",
  KEY_FORMAT: "a key file or key message does not parse strictly, or a public key lacks its proof",
  LAYOUT_OVERFLOW: "the slot layout could overflow for this many instances",
  LAYOUT_RANGE: "a gradient is outside the range that the slot layout can represent",
  DECODE_OVERFLOW: "a decrypted sum overflowed, or is outside the range that the layout allows",
  CIPHERTEXT_RANGE:
    "a received ciphertext is not a valid one: not between 0 and n^2, a factor in common with n, or not on the curve",
  HANDSHAKE_MISMATCH: "two parties disagree about protocol version, job or data",
  POLICY: "a job exceeds a party's policy, or has categories with fewer people than `min_category_people`",
  MODEL_UNKNOWN: "a party has no share of this model that was trained with the requesting party",
  ID_UNKNOWN: "an id to be scored is not in a party's data",
  PARTY_BUSY: "a party has too many jobs waiting, or another of its processes is running",
  PROTOCOL_STATE: "a message is not allowed now, or its contents are not allowed",
  PARTY_LOST: "a party died, stopped answering, or its connection broke during a job",
  CHECKPOINT:
    "the stored state of an unfinished job is damaged, of another version, or does not fit the job or the data",
  CERTIFICATE: "a peer's certificate is missing, expired, or not the pinned one",
  TIMEOUT: "a request was not answered in time",
  OVERLOADED: "more requests are waiting than the server accepts",
  UNAUTHORISED: "a request lacks the server's token",
  CONSENT: "a consent is missing, was changed after signing, or is for another model or recipient",
  EXPOSURE: "an audit proves more of a party's cells than --max-certain allows",
  ENGINE_FULL: "the message engine between a party and its workers has no room for more",
  ENGINE_LOST: "the message engine between a party and its workers does not answer, or lost confirmed messages",
  WORKERS_MISSING: "a crew has fewer workers than configured, or some of its blocks have no worker",
  SEAL_BROKEN: "a message between a party and its workers was encrypted with another key, or changed in transit",
  INTERNAL: "a bug in Tandem",
} as const;

/** Stable: programs may distinguish errors by it; docs/errors.md describes each. */
export type ErrorCode = keyof typeof errorCodes;

/** An error of input, peers or the system, with a message that says what to do about it. */
export class TandemError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "TandemError";
    this.code = code;
  }
}

/** @returns whether `code` is one of ours: codes arrive from peers as plain strings. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
