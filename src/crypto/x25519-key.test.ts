import { diffieHellman } from "node:crypto";
import { expect, test } from "vitest";
import { osRandom, type SecureRandom } from "../base/random.ts";
import { newX25519Key, publicBytesOf, publicKeyFrom } from "./x25519-key.ts";

/** A random source with known output. */
function given(secret: Uint8Array): SecureRandom {
  return {
    fill(target) {
      target.set(secret);
      return target;
    },
  } as SecureRandom;
}

test("a public key equals the base point times the secret, by an independent ladder of RFC 7748", () => {
  const key = newX25519Key(given(Uint8Array.from({ length: 32 }, (_, i) => i)));
  const u = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f";
  expect(publicBytesOf(key)).toEqual(new Uint8Array(Buffer.from(u, "hex")));
});

test("two parties agree on a secret that differs from other pairs'", () => {
  const [one, other, third] = [1, 2, 3].map(() => newX25519Key(osRandom));
  const between = (privateKey: typeof one, peer: typeof one): string =>
    diffieHellman({ privateKey, publicKey: publicKeyFrom(publicBytesOf(peer)) }).toString("hex");
  expect(between(one, other)).toBe(between(other, one));
  expect(between(one, other)).not.toBe(between(one, third));
});
