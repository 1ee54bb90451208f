/**
 * The baseline: OpenSSL's modular power, reached through Diffie-Hellman, which is a modular power for any odd modulus.
 * One textbook encryption is a power with exponent n modulo n^2: what Paillier costs without any of our shortcuts.
 */
import { createDiffieHellman, randomBytes } from "node:crypto";

/** A function that computes one power of a fixed random base. */
export function opensslPower(modulus: bigint, exponent: bigint): () => Uint8Array {
  const group = createDiffieHellman(bytesOf(modulus), Buffer.from([2]));
  group.setPrivateKey(bytesOf(exponent));
  const base = (BigInt(`0x${randomBytes(bytesOf(modulus).length + 8).toString("hex")}`) % (modulus - 3n)) + 2n;
  const baseBytes = bytesOf(base);
  return () => group.computeSecret(baseBytes);
}

/** An odd number of exactly this many bits. */
export function randomOdd(bits: number): bigint {
  const bytes = randomBytes(Math.ceil(bits / 8) + 1);
  return (BigInt(`0x${bytes.toString("hex")}`) % 2n ** BigInt(bits - 1)) | (2n ** BigInt(bits - 1)) | 1n;
}

function bytesOf(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}
