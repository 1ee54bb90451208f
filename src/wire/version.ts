import { TandemError } from "../base/error.ts";

/**
 * Raised with every change of proto/ or of the meaning of a message. Parties with different versions refuse each other.
 */
export const protocolVersion = 15;

const advice = "Run the same version of Tandem at all parties";

/**
 * Refuses an active party of another version. Must be called before other fields are read, since they may have changed.
 * @param name of the passive party
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function requireActiveVersion(theirs: number, name: string): void {
  if (theirs === protocolVersion) return;
  throw new TandemError(
    "HANDSHAKE_MISMATCH",
    `protocol version: the active party speaks ${theirs}, ${name} speaks ${protocolVersion}. ${advice}`,
  );
}

/**
 * Refuses the answer of a passive party of another version.
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function requirePassiveVersion(theirs: number, party: string): void {
  if (theirs === protocolVersion) return;
  throw new TandemError(
    "HANDSHAKE_MISMATCH",
    `party ${party} speaks protocol version ${theirs}, we speak ${protocolVersion}. ${advice}`,
  );
}

/** Limit of a message; larger data is sent as a stream of chunks. */
export const messageBytesMax = 4 << 20;

/** Split candidates of one party: about 2,000 features with 1,024 bins and missing values, or 65,000 with 32 bins. */
export const candidateCountMax = 1 << 22;

/** Target size of one chunk of ciphertexts: small enough to overlap encryption, sending and loading. */
export const chunkBytes = 512 << 10;
