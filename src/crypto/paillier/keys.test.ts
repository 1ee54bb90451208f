import { inspect } from "node:util";

import { beforeAll, describe, expect, it } from "vitest";

import { generateKey } from "./key-generation.ts";
import { type PrivateKey, PublicKey } from "./keys.ts";

describe("keys", () => {
  let key: PrivateKey;
  beforeAll(async () => {
    key = await generateKey({ bits: 130, insecure: true });
  });

  it("derive sizes from n", () => {
    const { publicKey } = key;
    expect(publicKey.n).toBe(key.p * key.q);
    expect(publicKey.nSquared).toBe(publicKey.n ** 2n);
    expect([publicKey.bits, publicKey.plaintextBytes, publicKey.ciphertextBytes]).toEqual([130, 17, 33]);
  });

  it("have a fingerprint that depends on n alone", async () => {
    expect(key.publicKey.fingerprint()).toMatch(/^[0-9a-f]{64}$/);
    expect(new PublicKey(key.publicKey.n).fingerprint()).toBe(key.publicKey.fingerprint());
    const other = await generateKey({ bits: 130, insecure: true });
    expect(other.publicKey.fingerprint()).not.toBe(key.publicKey.fingerprint());
  });

  it("do not leak secrets through inspect, String, JSON, enumeration or cloning", () => {
    const { p, q } = key.secretPrimes();
    const secrets = [p, q].flatMap((side) => [side.prime, side.subprime, side.generator]);
    const wrapped = { nested: [key] };
    const deep = { depth: 10, showHidden: true, getters: true };
    // getters: true is asked for explicitly; the custom inspect still wins.
    const seen = [
      inspect(key),
      inspect(wrapped, deep),
      inspect(key, { ...deep, customInspect: false, getters: false }),
      String(key),
      "".concat(key as unknown as string),
      JSON.stringify(Object.entries(key), (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
      inspect(structuredClone(key), deep),
    ].join("\n");
    for (const secret of secrets) {
      expect(seen).not.toContain(secret.toString());
      expect(seen).not.toContain(secret.toString(16));
    }
    expect(() => JSON.stringify(key)).toThrow("never serialised implicitly");
    expect(() => JSON.stringify(wrapped)).toThrow("never serialised implicitly");
  });
});
