/**
 * What base OTs should refuse of malicious parties, and do not yet (docs/leakage.md, masked scoring). Each test fails
 * today, as `test.fails` expects; it turns red when the gap is closed.
 */
import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { baseCount, baseReceiverKeys, baseSenderKeys, newAgreementKey } from "./base-ot.ts";
import {
  add,
  encoded,
  fromMontgomery,
  groupOrder,
  Multiples,
  type Point,
  pointBytes,
  toMontgomery,
} from "./edwards25519.ts";

test.fails("a receiver that sends half of the sender's key does not make both keys of a transfer equal", async () => {
  const sender = newAgreementKey();
  const half = encoded(new Multiples(fromMontgomery(sender.publicKey)).by((groupOrder + 1n) / 2n));
  const points = new Uint8Array(baseCount * pointBytes);
  for (let i = 0; i < baseCount; i++) points.set(half, i * pointBytes);
  const [[first, second]] = await baseSenderKeys(sender, points, "gap");
  expect(first).not.toEqual(second);
});

test.fails("a sender's key outside the prime-order subgroup is refused", async () => {
  const ofOrderTwo: Point = { x: 0n, y: 2n ** 255n - 20n, z: 1n, t: 0n };
  const mixed = add(fromMontgomery(newAgreementKey().publicKey), ofOrderTwo);
  await expect(baseReceiverKeys(toMontgomery(mixed), "gap", osRandom)).rejects.toThrow(TandemError);
});
