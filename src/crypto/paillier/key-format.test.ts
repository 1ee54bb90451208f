import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  parsePrivateKey,
  parsePublicKey,
  readPrivateKey,
  serialisePrivateKey,
  serialisePublicKey,
  writePrivateKey,
} from "./key-format.ts";
import { generateKey } from "./key-generation.ts";
import type { PrivateKey } from "./keys.ts";

const insecure = { insecure: true };
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

type Json = Record<string, unknown> & { p: Record<string, unknown>; q: Record<string, unknown> };

/** The private key's JSON after a change. */
function changed(change: (json: Json) => void): string {
  const json = JSON.parse(serialisePrivateKey(key)) as Json;
  change(json);
  return JSON.stringify(json);
}

const hex = (value: bigint): string => value.toString(16);

describe("public keys", () => {
  it("round-trip through one canonical form", () => {
    const text = serialisePublicKey(key.publicKey);
    expect(JSON.parse(text)).toEqual({ format: "tandem-public-key/1", bits: 256, n: hex(key.publicKey.n) });
    const parsed = parsePublicKey(text, insecure);
    expect(parsed.n).toBe(key.publicKey.n);
    expect(parsed.fingerprint()).toBe(key.publicKey.fingerprint());
  });

  it("are refused when short, unless insecure", () => {
    expect(() => parsePublicKey(serialisePublicKey(key.publicKey))).toThrow(
      expect.objectContaining({ code: "KEY_TOO_SHORT" }),
    );
  });

  it.each([
    ["not json", "JSON object"],
    ["[]", "JSON object"],
    ["null", "JSON object"],
    ["{}", "'format' is missing"],
    [{ extra: 1 }, "'extra' is unknown"],
    [{ format: "tandem-public-key/2" }, "'format'"],
    [{ bits: "256" }, "'bits'"],
    [{ bits: 255 }, "'bits'"],
    [{ bits: 126 }, "'bits'"],
    [{ bits: 4098 }, "'bits'"],
    [{ bits: 258 }, "'n' must have exactly"],
    [{ bits: 254 }, "'n' must have"],
    [{ n: 5 }, "'n' must be a lowercase"],
    [{ n: "" }, "'n' must be a lowercase"],
    [{ n: `0${"f".repeat(63)}` }, "'n' must be a lowercase"],
    [{ n: "F".repeat(64) }, "'n' must be a lowercase"],
    [{ n: `0x${"f".repeat(62)}` }, "'n' must be a lowercase"],
    [{ n: "f".repeat(65) }, "'n' must have at most"],
    [{ n: `${"f".repeat(63)}e` }, "'n' must be odd"],
    ["x".repeat(40_000), "too large"],
  ])("refuse %o", (change, message) => {
    const text =
      typeof change === "string"
        ? change
        : JSON.stringify({ ...(JSON.parse(serialisePublicKey(key.publicKey)) as object), ...change });
    expect(() => parsePublicKey(text, insecure)).toThrow(
      expect.objectContaining({ code: "KEY_FORMAT", message: expect.stringContaining(message) }),
    );
  });
});

describe("private keys", () => {
  it("round-trip", async () => {
    const parsed = await parsePrivateKey(serialisePrivateKey(key), insecure);
    expect(parsed.secretPrimes()).toEqual(key.secretPrimes());
  });

  const changes: [string, (json: Json) => void, string][] = [
    ["a missing field", (json) => delete json.p["generator"], "'p.generator' is missing"],
    ["an unknown field", (json) => (json.q["phi"] = "1"), "'q.phi' is unknown"],
    ["a side that is no object", (json) => (json["p"] = [] as unknown as Json["p"]), "'p' must be an object"],
    ["equal primes", (json) => (json["q"] = json.p), "'q.prime' must differ"],
    ["another n", (json) => (json["n"] = hex(key.publicKey.n + 2n)), "'n' must be the product"],
    ["a cofactor of zero", (json) => (json.p["cofactor"] = "0"), "'p.cofactor' must not be zero"],
    ["a large cofactor", (json) => (json.p["cofactor"] = "1000000000"), "'p.cofactor' must have at most"],
    ["a prime of another form", (json) => (json.q["cofactor"] = "4001"), "'q.prime' must be 2 * cofactor"],
    ["a short prime", (json) => (json.q["prime"] = "b"), "'q.prime' must have half"],
    [
      "a generator of a subgroup",
      (json) => (json.p["generator"] = hex(key.secretPrimes().p.generator ** 2n % key.p)),
      "'p.generator'",
    ],
    ["a trivial generator", (json) => (json.q["generator"] = "1"), "'q.generator'"],
    ["a public key", (json) => (json["format"] = "tandem-public-key/1"), "'format'"],
  ];
  it.each(changes)("refuse %s and name the field, never a value", async (_, change, message) => {
    const error = await parsePrivateKey(changed(change), insecure).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code: "KEY_FORMAT", message: expect.stringContaining(message) });
    for (const secret of [key.p, key.q, key.secretPrimes().p.subprime]) {
      expect(`${error?.message}${error?.stack}`).not.toContain(hex(secret).slice(0, 12));
    }
  });

  it("refuse composites", async () => {
    // p' = composite: both halves of the structure hold, primality does not.
    const text = changed((json) => {
      let subprime = key.secretPrimes().p.subprime + 2n;
      const { cofactor } = key.secretPrimes().p;
      // A small divisor that the cofactor does not have, or the search would never end.
      const divisor = [3n, 5n, 7n, 11n, 13n, 17n, 19n].find((candidate) => cofactor % candidate !== 0n) ?? 23n;
      while ((2n * cofactor * subprime + 1n) % divisor !== 0n) subprime += 2n;
      const prime = 2n * cofactor * subprime + 1n;
      json.p["subprime"] = hex(subprime);
      json.p["prime"] = hex(prime);
      json["n"] = hex(prime * key.q);
    });
    await expect(parsePrivateKey(text, insecure)).rejects.toMatchObject({
      code: "KEY_FORMAT",
      message: expect.stringContaining("'p.prime' must be prime"),
    });
  });

  it("do not quote broken JSON", async () => {
    const broken = serialisePrivateKey(key).slice(0, -4);
    const error = await parsePrivateKey(broken, insecure).catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: "KEY_FORMAT", message: "a key must be a JSON object" });
    expect((error as Error).cause).toBeUndefined();
  });
});

describe("private key files", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tandem-key-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("are written for the owner only, whole, and read back", async () => {
    const path = join(folder, "key.json");
    await writeFile(path, "old", { mode: 0o644 });
    await writePrivateKey(path, key);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["key.json"]);
    expect((await readPrivateKey(path, insecure)).p).toBe(key.p);
    await expect(readPrivateKey(path)).rejects.toMatchObject({ code: "KEY_TOO_SHORT" });
  });

  it.each([0o640, 0o604, 0o620, 0o601])("are refused with mode %o", async (mode) => {
    const path = join(folder, `mode-${mode}.json`);
    await writePrivateKey(path, key);
    await chmod(path, mode);
    await expect(readPrivateKey(path, insecure)).rejects.toMatchObject({
      code: "KEY_FORMAT",
      message: expect.stringContaining("chmod 600"),
    });
  });

  it("are named in errors", async () => {
    const missing = join(folder, "missing.json");
    await expect(readPrivateKey(missing)).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      message: expect.stringContaining(missing),
    });
    const broken = join(folder, "broken.json");
    await writeFile(broken, "{", { mode: 0o600 });
    await expect(readPrivateKey(broken)).rejects.toMatchObject({
      code: "KEY_FORMAT",
      message: expect.stringContaining(broken),
    });
    await expect(writePrivateKey(join(folder, "no", "such", "key.json"), key)).rejects.toThrow("ENOENT");
  });
});
