/**
 * Authenticated encryption of the messages between a party and its workers: the engine carries them, and cannot read,
 * change or move them.
 *
 *   sealed = nonce (12 bytes) | AES-256-GCM of the message, with the subject as associated data | tag (16 bytes)
 *   key    = HKDF-SHA-256 of the crew's key, for one epoch
 *
 * Nonces are random. With 2^32 messages of one epoch the probability of a collision is 2^-33; more are rejected.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { osRandom } from "../base/random.ts";

export interface Seal {
  /** @param parts of one message, so that a large one need not be concatenated first */
  seal(subject: string, ...parts: readonly Uint8Array[]): Uint8Array;
  /** @throws TandemError SEAL_BROKEN: of another crew, epoch or subject, or changed in transit */
  open(subject: string, sealed: Uint8Array): Uint8Array;
}

export const crewKeyBytes = 32;
/** The overhead per message. */
export const sealBytes = 28;

const nonceBytes = 12;
const tagBytes = 16;
const messagesMax = 2 ** 32;
const cipherName = "aes-256-gcm";

/** @param crewKey shared by the party and its workers only */
export function sealOf(crewKey: Uint8Array, epoch: string): Seal {
  assert(crewKey.length === crewKeyBytes, "a crew's key has 32 bytes");
  const key = Buffer.from(hkdfSync("sha256", crewKey, "", `tandem/crew/1/${epoch}`, 32));
  let messageCount = 0;
  return {
    seal(subject, ...parts) {
      assert(messageCount++ < messagesMax, "an epoch has fewer than 2^32 messages");
      const nonce = osRandom.fill(new Uint8Array(nonceBytes));
      const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(subject));
      const enciphered = parts.map((part) => cipher.update(part));
      cipher.final();
      return Buffer.concat([nonce, ...enciphered, cipher.getAuthTag()]);
    },
    open(subject, sealed) {
      if (sealed.length < sealBytes) throw broken();
      const end = sealed.length - tagBytes;
      const decipher = createDecipheriv(cipherName, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(subject)).setAuthTag(sealed.subarray(end));
      try {
        const message = decipher.update(sealed.subarray(nonceBytes, end));
        decipher.final();
        return message;
      } catch (cause) {
        throw broken(cause);
      }
    },
  };
}

function broken(cause?: unknown): TandemError {
  return new TandemError(
    "SEAL_BROKEN",
    "a message of the crew cannot be decrypted. Check that party and workers have the same crew.key and version",
    { cause },
  );
}
