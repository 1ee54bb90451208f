/**
 * The one error class for everything the world can do to us: wrong files, wrong options, peers that lie or vanish.
 * A message says what is wrong, where (file, line, option or party), and what to do. It never carries a row's value,
 * a gradient, a threshold or a key: peers and logs see it. Our own bugs are assertions (assert.ts), not these.
 */

/** Every code, with what it means; docs/errors.md lists the same codes and a test compares the two. */
export const errorCodes = {
  USAGE: "an option or parameter is unknown, malformed or out of bounds",
  FILE_UNREADABLE: "a file is missing or cannot be read",
  FILE_UNWRITABLE: "a file or directory cannot be written",
  FILE_FORMAT: "a file is not what its name says, or a row has the wrong number of cells",
  COLUMN_UNKNOWN: "a column that was named is not in the file",
  COLUMN_SHARED: "a column was given to two parties, or used twice",
  ID_DUPLICATE: "an id stands on two lines of one file",
  ID_MISMATCH: "two parties' files do not list the same ids in the same order",
  CELL_UNPARSABLE: "a cell is neither a number nor a missing value",
  LABEL_INVALID: "the label column cannot be learnt from: one class only, missing, or outside the objective's range",
  WEIGHT_INVALID: "an instance's weight is negative, not a number, or all of them are zero",
  KEY_TOO_SHORT: "the key is shorter than 2048 bits and no option containing the word insecure was given",
  KEY_FORMAT: "a key file or key message does not parse strictly, or a public key comes without its proof",
  LAYOUT_OVERFLOW:
    "the slot layout could overflow for this many instances; the message names parameters that would work",
  LAYOUT_RANGE: "a gradient lies outside the range that the slot layout can represent",
  DECODE_OVERFLOW: "a decrypted sum shows overflow, or lies outside the range that the layout allows",
  CIPHERTEXT_RANGE: "a ciphertext from the wire is not between 0 and n^2, or shares a factor with n",
  HANDSHAKE_MISMATCH: "two parties disagree about protocol version, job or data",
  POLICY:
    "a job asks for more than a party's owner allows, or brings categories of fewer people than `min_category_people`",
  MODEL_UNKNOWN: "a party has no share of the model that was named, made with the party that asks",
  ID_UNKNOWN: "an id that is to be scored is not among the people that a party holds",
  PARTY_BUSY: "a party serves another job at the moment, or another process of it is at work",
  PROTOCOL_STATE: "a message arrived that the protocol does not allow now, or with contents that it does not allow",
  PARTY_LOST: "a party died, or its connection broke, in the middle of a job",
  CHECKPOINT:
    "what a party has stored of an unfinished job is damaged, of another version, or does not fit the job or the data",
  CERTIFICATE: "a peer's certificate is missing, expired, or not the one that was agreed",
  TIMEOUT: "a request was not answered within the time that it may take",
  OVERLOADED: "more requests are waiting than the server takes",
  UNAUTHORISED: "a request does not show the token that the server asks for",
  CONSENT: "a consent is missing, was changed after it was signed, or is for another model or recipient",
  EXPOSURE: "an audit proves more of a party's cells than --max-certain allows",
  ENGINE_FULL: "the engine between a party and its workers has no room for more",
  ENGINE_LOST: "the engine between a party and its workers does not answer, or has lost what it had confirmed",
  WORKERS_MISSING: "a party's crew has fewer workers than its config asks for, or nobody holds some of its blocks",
  SEAL_BROKEN: "a message between a party and its workers was sealed with another key, or changed on its way",
  INTERNAL: "a bug in Tandem",
} as const;

/** Stable: programs may tell errors apart by it; docs/errors.md says what each means. */
export type ErrorCode = keyof typeof errorCodes;

/** Whatever the world can do to a job, with a message that says what to do about it. */
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
