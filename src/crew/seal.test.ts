import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { crewKeyBytes, sealBytes, sealOf } from "./seal.ts";

const crewKey = Uint8Array.from({ length: crewKeyBytes }, (_, i) => i);
const seal = sealOf(crewKey, "a1");
const message = new TextEncoder().encode("members of node 3");
const sealed = seal.seal("log.3", message);

test.each([0, 1, 15, 16, 1000])("encrypted messages decrypt: %i bytes", (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
  const closed = seal.seal("sum.0.1", bytes);
  expect(closed.length).toBe(length + sealBytes);
  expect(Uint8Array.from(sealOf(crewKey, "a1").open("sum.0.1", closed))).toEqual(bytes);
});

test("ciphertexts reveal nothing of a message, and differ each time", () => {
  expect(Buffer.from(sealed).includes("members")).toBe(false);
  expect(Buffer.from(seal.seal("log.3", message))).not.toEqual(Buffer.from(sealed));
});

test("another subject, epoch or key is rejected", async () => {
  const other = Uint8Array.from(crewKey);
  other[31] ^= 1;
  await expectError(() => seal.open("log.4", sealed), "SEAL_BROKEN", /crew\.key/);
  await expectError(() => sealOf(crewKey, "a2").open("log.3", sealed), "SEAL_BROKEN", /crew\.key/);
  await expectError(() => sealOf(other, "a1").open("log.3", sealed), "SEAL_BROKEN", /crew\.key/);
});

test("any flipped bit and any shorter message are rejected", async () => {
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Uint8Array.from(sealed);
    changed[bit >> 3] ^= 1 << (bit & 7);
    await expectError(() => seal.open("log.3", changed), "SEAL_BROKEN", /cannot be decrypted/);
  }
  for (let length = 0; length < sealed.length; length++)
    await expectError(() => seal.open("log.3", sealed.subarray(0, length)), "SEAL_BROKEN", /cannot be decrypted/);
});

test("a key of a wrong length fails an assertion", async () => {
  await expectError(() => sealOf(crewKey.subarray(1), "a1"), "INTERNAL", /32 bytes/);
});
