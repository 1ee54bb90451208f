import { TandemError } from "../base/error.ts";
import { mismatchWords } from "./releases.ts";

/**
 * Raised with every change of proto/ or of the meaning of a message. Parties with different versions refuse each other.
 */
export const protocolVersion = 15;

/**
 * Refuses an active party of another version. Must be called before other fields are read, since they may have changed.
 * @param name of the passive party
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function requireActiveVersion(theirs: number, name: string): void {
  if (theirs === protocolVersion) return;
  const words = mismatchWords({ who: "the active party", version: theirs }, { who: name, version: protocolVersion });
  throw new TandemError("HANDSHAKE_MISMATCH", words);
}

/**
 * Refuses the answer of a passive party of another version.
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function requirePassiveVersion(theirs: number, party: string): void {
  if (theirs === protocolVersion) return;
  const words = mismatchWords(
    { who: `party ${party}`, version: theirs },
    { who: "this party", version: protocolVersion },
  );
  throw new TandemError("HANDSHAKE_MISMATCH", words);
}

/** Limit of a message; larger data is sent as a stream of chunks. */
export const messageBytesMax = 4 << 20;

/** Split candidates of one party: about 2,000 features with 1,024 bins and missing values, or 65,000 with 32 bins. */
export const candidateCountMax = 1 << 22;

/** Target size of one chunk of ciphertexts: small enough to overlap encryption, sending and loading. */
export const chunkBytes = 512 << 10;
