/**
 * A passive party's consent to the export of a model (docs/model-files.md): a statement who may have its splits and
 * what for, and with it the splits, signed with the key of the party's TLS certificate. It is the one deliberate
 * disclosure of thresholds.
 *
 * A file is one JSON object on one line: { "format", "certificate", "signature", "consent" }. The signature is over the
 * format, a line feed, and the text of `consent` as it is in the file, so that no canonical form is needed. The format
 * prefix separates it from any other signature of this key.
 *
 * @reveals active: where the party consents to an export, its splits of that model: names of features, thresholds or
 * categories, and
 *   default directions
 */
import { type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import * as z from "zod";
import { writeFileAtomically } from "../base/files/atomic-file.ts";
import { readBoundedText } from "../base/files/bounded-file.ts";
import { TandemError } from "../base/error.ts";
import { exactJson } from "../base/text/exact-json.ts";
import { checked } from "./sealed-file.ts";
import { type PassiveShare, passiveShareSchema } from "./share-files.ts";

const format = "tandem-consent/1";
export const purposeCharactersMax = 500;
/** About a hundred thousand splits. */
const consentBytesMax = 64 << 20;

const text = z.string().min(1);
const statement = z.strictObject({
  model: text,
  job: text,
  party: text,
  recipient: z.strictObject({
    name: text,
    fingerprint: z.string().regex(/^[0-9a-f]{64}$/, "a fingerprint has 64 hex digits"),
  }),
  purpose: text.max(purposeCharactersMax),
  date: z.iso.datetime(),
  tandem: text,
});
/** XGBoost's thresholds are float32, and so are ours: no other number can result from training. */
const share = passiveShareSchema.refine(
  ({ splits }) => splits.every((split) => !("threshold" in split) || Math.fround(split.threshold) === split.threshold),
  { message: "a threshold is not a float32 number" },
);
const consent = z
  .strictObject({ statement, share })
  .refine(
    (both) =>
      both.statement.model === both.share.model &&
      both.statement.job === both.share.job &&
      both.statement.party === both.share.name,
    {
      message: "the statement is not about the share in the same file",
    },
  );

export interface ConsentStatement {
  readonly model: string;
  readonly job: string;
  /** The consenting party, by the name in its own config. */
  readonly party: string;
  /** The recipient of the share: the name and the fingerprint under which the party has pinned it. */
  readonly recipient: { readonly name: string; readonly fingerprint: string };
  readonly purpose: string;
  /** ISO 8601, in UTC. */
  readonly date: string;
  /** The version of Tandem that wrote it. */
  readonly tandem: string;
}

export interface Consent {
  readonly statement: ConsentStatement;
  readonly share: PassiveShare;
}

export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

const base64 = "([A-Za-z0-9+/]+=*)";
const envelopeSyntax = new RegExp(
  `^\\{"format":"([^"]*)","certificate":"${base64}","signature":"${base64}","consent":(.*)\\}\n$`,
  "s",
);

/** @throws TandemError FILE_UNWRITABLE naming the file */
export async function writeConsent(path: string, given: Consent, { certificate, key }: Signer): Promise<void> {
  const body = JSON.stringify(given);
  const signature = sign(digestFor(key), signedBytes(body), key).toString("base64");
  const der = certificate.raw.toString("base64");
  const line = `{"format":"${format}","certificate":"${der}","signature":"${signature}","consent":${body}}\n`;
  await writeFileAtomically(path, line, 0o600);
}

/**
 * A consent that its certificate's key has signed. The caller checks whose certificate it is, and whether it is pinned.
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file; CONSENT if the signature does not match
 */
export async function readConsent(
  path: string,
): Promise<{ readonly certificate: X509Certificate; readonly consent: Consent }> {
  const contents = await readBoundedText(path, { sizeBytesMax: consentBytesMax, noun: "a consent" });
  if (contents === null) throw new TandemError("FILE_UNREADABLE", `${path}: the consent cannot be read: no such file`);
  const envelope = envelopeSyntax.exec(contents);
  if (envelope === null) throw new TandemError("FILE_FORMAT", `${path} is not a consent, or is truncated`);
  const [, given, der, signature, body] = envelope;
  if (given !== format) throw new TandemError("FILE_FORMAT", `${path} has the format ${given}, not ${format}`);
  const certificate = certificateFrom(path, der);
  if (!isSigned(certificate, body, signature)) {
    throw new TandemError("CONSENT", `${path}: the signature does not match: the file was changed after it was signed`);
  }
  return {
    certificate,
    consent: checked(consent, jsonOf(path, body), (what) => new TandemError("FILE_FORMAT", `${path}: ${what}`)),
  };
}

function signedBytes(body: string): Buffer {
  return Buffer.from(`${format}\n${body}`, "utf8");
}

/** Ed25519 and Ed448 include their hash; ECDSA and RSA need one. */
function digestFor({ asymmetricKeyType }: KeyObject): string | null {
  return asymmetricKeyType === "ed25519" || asymmetricKeyType === "ed448" ? null : "sha256";
}

/** False for a certificate whose key cannot be read, or is not a signing key. */
function isSigned(certificate: X509Certificate, body: string, signature: string): boolean {
  try {
    const { publicKey } = certificate; // OpenSSL parses it only now
    return verify(digestFor(publicKey), signedBytes(body), publicKey, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}

function certificateFrom(path: string, der: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(der, "base64"));
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path}: the certificate in it cannot be read`, { cause });
  }
}

/** Signed text must have a single meaning. */
function jsonOf(path: string, body: string): unknown {
  const value = exactJson(body);
  if (value === undefined)
    throw new TandemError("FILE_FORMAT", `${path}: the consent in it is not JSON as this program writes it`);
  return value;
}
