/**
 * X25519 keys from random bytes. Node's generateKeyPairSync is avoided: exporting its keys holds a lock while it
 * creates strings, and if garbage collection runs at that moment, the finaliser of the generation waits for the same
 * lock. The process then deadlocks (seen with Node 20).
 */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { SecureRandom } from "../base/random.ts";

/** PKCS #8 of X25519, up to its 32 bytes. */
const privateHead = Buffer.from("302e020100300506032b656e04220420", "hex");
const keyBytes = 32;

export function newX25519Key(random: SecureRandom): KeyObject {
  const encoded = Buffer.concat([privateHead, random.fill(new Uint8Array(keyBytes))]);
  const key = createPrivateKey({ key: encoded, format: "der", type: "pkcs8" });
  encoded.fill(0);
  return key;
}

/** The u-coordinate that belongs to a private key. */
export function publicBytesOf(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-keyBytes));
}

export function publicKeyFrom(u: Uint8Array): KeyObject {
  // A JWK is imported in 8 us, DER in 100.
  return createPublicKey({
    key: { kty: "OKP", crv: "X25519", x: Buffer.from(u).toString("base64url") },
    format: "jwk",
  });
}
