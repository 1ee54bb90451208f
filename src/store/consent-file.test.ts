// @peculiar/x509 needs it loaded first.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import { createPrivateKey, sign, webcrypto, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { type Consent, readConsent, type Signer, writeConsent } from "./consent-file.ts";

let folder: string;
let path: string;
let signer: Signer;
let otherSigner: Signer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-consent-"));
  path = join(folder, "consent.json");
  signer = await signerWith(ecdsa);
  otherSigner = await signerWith(ecdsa);
});
afterAll(() => rm(folder, { recursive: true }));

const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function signerWith(algorithm: { readonly name: string }): Promise<Signer> {
  x509.cryptoProvider.set(webcrypto);
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=telecom",
    notBefore: new Date(0),
    notAfter: new Date(1e13),
    signingAlgorithm: algorithm,
    keys,
  });
  const key = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)),
    format: "der",
    type: "pkcs8",
  });
  return { certificate: new X509Certificate(Buffer.from(certificate.rawData)), key };
}

const given: Consent = {
  statement: {
    model: "5".repeat(64),
    job: "spring",
    party: "telecom",
    recipient: { name: "bank", fingerprint: "a".repeat(64) },
    purpose: 'scoring "of"\nloans',
    date: "2024-05-06T07:08:09.000Z",
    tandem: "0.1.0",
  },
  share: {
    name: "telecom",
    job: "spring",
    model: "5".repeat(64),
    active: "bank",
    splits: [{ tree: 0, node: 2, feature: 3, featureName: 'us"age}', threshold: 1.5, defaultLeft: true }],
  },
};

describe("round trip", () => {
  test.each([
    ["ECDSA P-256", ecdsa],
    ["ECDSA P-384", { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" }],
    [
      "RSA",
      { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
    ],
    ["Ed25519", { name: "Ed25519" }],
  ])("with a certificate of %s", async (_name, algorithm) => {
    const own = await signerWith(algorithm);
    await writeConsent(path, given, own);
    const { certificate, consent } = await readConsent(path);
    expect(consent).toEqual(given);
    expect(certificate.fingerprint256).toBe(own.certificate.fingerprint256);
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
    expect(await readFile(path, "utf8")).not.toContain("PRIVATE");
  });
});

describe("a consent that is not what was signed", () => {
  const expectRefused = async (
    change: (text: string) => string,
    code: "CONSENT" | "FILE_FORMAT",
    message: RegExp,
  ): Promise<void> => {
    await writeConsent(path, given, signer);
    const text = await readFile(path, "utf8");
    const changed = change(text);
    expect(changed).not.toBe(text);
    await writeFile(path, changed);
    const error = await expectError(() => readConsent(path), code, message);
    expect(error.message).toContain(path);
    expect(error.message).not.toMatch(/1\.5|us"age/);
  };

  test.each([
    ["the recipient", '"name":"bank"', '"name":"rival"'],
    ["the recipient's certificate", "a".repeat(64), "b".repeat(64)],
    ["the purpose", "loans", "cars"],
    ["the date", "2024-05", "2025-05"],
    ["a threshold", "1.5", "2.5"],
    ["a space, which JSON would ignore", '"statement":', '"statement": '],
    ["broken JSON", "true}]", "tru}]"],
  ])("%s was changed", (_what, before, after) =>
    expectRefused((text) => text.replace(before, after), "CONSENT", /changed after it was signed/),
  );

  test("another's certificate in place of the signer's", () =>
    expectRefused(
      (text) =>
        text.replace(/"certificate":"[^"]+"/, `"certificate":"${otherSigner.certificate.raw.toString("base64")}"`),
      "CONSENT",
      /changed after it was signed/,
    ));
  test("another consent's signature", async () => {
    await writeConsent(path, { ...given, statement: { ...given.statement, purpose: "something else" } }, signer);
    const [, other] = /"signature":"([^"]+)"/.exec(await readFile(path, "utf8")) ?? [];
    await expectRefused(
      (text) => text.replace(/"signature":"[^"]+"/, `"signature":"${other}"`),
      "CONSENT",
      /changed after it was signed/,
    );
  });
  test("a signature of the same text without the format in front", () =>
    expectRefused(
      (text) => {
        const [, body] = /"consent":(.*)\}\n$/s.exec(text) ?? [];
        return text.replace(
          /"signature":"[^"]+"/,
          `"signature":"${sign("sha256", Buffer.from(body), signer.key).toString("base64")}"`,
        );
      },
      "CONSENT",
      /changed after it was signed/,
    ));
  test("no certificate", () =>
    expectRefused(
      (text) => text.replace(/"certificate":"[^"]+"/, '"certificate":"AAAA"'),
      "FILE_FORMAT",
      /certificate in it cannot be read/,
    ));
  test("a later format", () =>
    expectRefused(
      (text) => text.replace("consent/1", "consent/2"),
      "FILE_FORMAT",
      /has the format tandem-consent\/2, not tandem-consent\/1$/,
    ));
  test("truncated anywhere", async () => {
    await writeConsent(path, given, signer);
    const { length } = await readFile(path, "utf8");
    for (let size = 0; size < length; size += 41)
      await expectRefused((text) => text.slice(0, size), "FILE_FORMAT", /not a consent/);
  });
  test("missing", () => expectError(() => readConsent(join(folder, "no")), "FILE_UNREADABLE", /no: the consent/));
});

test.each([
  ["a share of another model", { ...given, share: { ...given.share, model: "6".repeat(64) } }, /not about the share/],
  ["a share of another job", { ...given, share: { ...given.share, job: "autumn" } }, /not about the share/],
  ["another party's share", { ...given, share: { ...given.share, name: "retailer" } }, /not about the share/],
  [
    "a threshold that no training produces",
    { ...given, share: { ...given.share, splits: [{ ...given.share.splits[0], threshold: 0.1 }] } },
    /float32/,
  ],
  ["a field too many", { ...given, more: 1 }, /more/],
  ["an invalid date", { ...given, statement: { ...given.statement, date: "yesterday" } }, /./],
  ["no purpose", { ...given, statement: { ...given.statement, purpose: "" } }, /./],
])("well signed, wrong contents: %s", async (_name, contents, message) => {
  await writeConsent(path, contents as Consent, signer);
  await expectError(() => readConsent(path), "FILE_FORMAT", message);
});
