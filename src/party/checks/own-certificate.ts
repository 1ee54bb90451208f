/** A party's own certificate, key and authority: readable, belonging together, within their dates. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";
import { certificateFingerprint } from "../../transport/pinned-certificate.ts";
import { listsIn } from "../../transport/tls-settings.ts";
import type { PassiveConfig } from "../config/config.ts";
import { dayMs, renewalDays } from "../../record/renewal-days.ts";
import { day, endOf, renew } from "./certificate-end.ts";
import { type Check, failed, ok, warning } from "./check.ts";

type Tls = Pick<PassiveConfig["tls"], "certificate" | "key" | "authority" | "revoked" | "insecure_key_file">;

const initAgain = "write a key and a certificate with 'tandem init', or correct the path under tls in its config";

/** @param who this party's name */
export async function checkOwnCertificate(tls: Tls, who: string, now: number): Promise<Check[]> {
  const checks: Check[] = [];
  const chain = await chainIn(tls, who, checks);
  const certificate = chain?.[0] ?? null;
  const key = await keyIn(tls, who, checks);
  if (certificate !== null) {
    checks.push(datesOf(certificate, tls.certificate, who, now));
    if (key !== null) checks.push(matchOf(certificate, key, tls, who));
    if (tls.revoked !== undefined) checks.push(await revokedIn(tls.revoked, who));
    if (tls.authority !== undefined) checks.push(await authorityOf(chain ?? [], tls.authority, who));
  }
  return checks;
}

/** This party's certificate, and those after it in the file. */
async function chainIn(tls: Tls, who: string, checks: Check[]): Promise<readonly X509Certificate[] | null> {
  const name = "certificate";
  const pem = await readFile(tls.certificate, "utf8").catch((cause: unknown) => {
    checks.push(failed(name, unreadable(tls.certificate, cause, who)));
    return null;
  });
  if (pem === null) return null;
  try {
    const chain = certificatesIn(pem);
    checks.push(ok(name, `${tls.certificate}, fingerprint ${certificateFingerprint(pem)}`));
    return chain;
  } catch {
    const isKey = pem.includes("PRIVATE KEY");
    checks.push(
      failed(name, {
        code: "CERTIFICATE",
        words: `${tls.certificate} is not a certificate in PEM form${isKey ? ", but a private key" : ""}`,
        who,
        todo: isKey ? "exchange tls.certificate and tls.key in its config" : initAgain,
      }),
    );
    return null;
  }
}

async function keyIn(tls: Tls, who: string, checks: Check[]): Promise<KeyObject | null> {
  const name = "key";
  try {
    const pem = await readSecretFile(tls.key, { insecure: tls.insecure_key_file });
    try {
      const key = createPrivateKey(pem);
      checks.push(ok(name, tls.insecure_key_file ? `${tls.key} (its permissions are not checked)` : tls.key));
      return key;
    } catch {
      const isLocked = pem.includes("ENCRYPTED");
      checks.push(
        failed(name, {
          code: "KEY_FORMAT",
          words: isLocked ? `${tls.key} is protected by a password` : `${tls.key} is not a private key in PEM form`,
          who,
          todo: isLocked ? "store it without a password, readable by its owner only" : initAgain,
        }),
      );
    }
  } catch (cause) {
    checks.push(
      failed(
        name,
        cause instanceof TandemError
          ? {
              code: cause.code,
              words: `${tls.key} is a secret, and other users of this machine may read or write it`,
              who,
              todo: `run: chmod 600 '${tls.key}' (or set insecure_key_file under tls, where that is not possible)`,
            }
          : unreadable(tls.key, cause, who),
      ),
    );
  }
  return null;
}

function datesOf({ validFrom, validTo }: X509Certificate, path: string, who: string, now: number): Check {
  const name = "certificate dates";
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (now < from)
    return failed(name, {
      code: "CERTIFICATE",
      words: `${path} is valid only from ${day(from)}, and this machine's clock says ${day(now)}`,
      who,
      todo: "correct the clock of this machine, or wait until then",
    });
  if (now > to)
    return failed(name, {
      code: "CERTIFICATE",
      words: `this party's own certificate ${path} expired on ${day(to)}`,
      who,
      todo: renew,
    });
  if (to - now < renewalDays.soon * dayMs)
    return warning(name, endOf(`this party's own certificate ${path}`, to, who, now));
  return ok(name, `valid until ${day(to)}`);
}

function matchOf(certificate: X509Certificate, key: KeyObject, tls: Tls, who: string): Check {
  const name = "key of the certificate";
  if (certificate.checkPrivateKey(key)) return ok(name, "key and certificate belong together");
  return failed(name, {
    code: "CERTIFICATE",
    words: `${tls.key} is not the key of ${tls.certificate}`,
    who,
    todo:
      "name the two files that were made together under tls in its config " +
      "(after an interrupted 'tandem cert switch': repeat it)",
  });
}

async function authorityOf(chain: readonly X509Certificate[], path: string, who: string): Promise<Check> {
  const name = "authority";
  const pem = await readFile(path, "utf8").catch((cause: unknown) => unreadable(path, cause, who));
  if (typeof pem !== "string") return failed(name, pem);
  try {
    if (isIssuedBy(chain, certificatesIn(pem))) return ok(name, path);
  } catch {
    return failed(name, {
      code: "CERTIFICATE",
      words: `${path} is not a certificate in PEM form`,
      who,
      todo: initAgain,
    });
  }
  return failed(name, {
    code: "CERTIFICATE",
    words: `this party's own certificate was not issued by ${path}, although tls.authority names it`,
    who,
    todo: "use a certificate of that authority, or leave tls.authority out at all parties",
  });
}

async function revokedIn(path: string, who: string): Promise<Check> {
  const name = "revoked certificates";
  const pem = await readFile(path, "utf8").catch((cause: unknown) => unreadable(path, cause, who));
  if (typeof pem !== "string") return failed(name, pem);
  try {
    createSecureContext({ crl: listsIn(pem) });
    return ok(name, path);
  } catch {
    return failed(name, {
      code: "CERTIFICATE",
      words: `${path} is not a list of revoked certificates (CRL) in PEM form`,
      who,
      todo: "store the authority's list there, or leave tls.revoked out",
    });
  }
}

/** The certificates of a PEM file. @throws Error if there is none */
function certificatesIn(pem: string): X509Certificate[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [pem];
  return found.map((each) => new X509Certificate(each));
}

/** @param chain this party's certificate, and the intermediate ones that are in the same file */
function isIssuedBy([leaf, ...intermediates]: readonly X509Certificate[], authorities: readonly X509Certificate[]) {
  const issued = (one: X509Certificate, by: X509Certificate): boolean =>
    one.checkIssued(by) && one.verify(by.publicKey);
  for (let last = leaf, left = intermediates; ;) {
    if (authorities.some((authority) => issued(last, authority))) return true;
    const next = left.find((each) => issued(last, each));
    if (next === undefined) return false;
    left = left.filter((each) => each !== next);
    last = next;
  }
}

function unreadable(path: string, cause: unknown, who: string) {
  const code = (cause as NodeJS.ErrnoException).code;
  const isMissing = code === "ENOENT";
  return {
    code: "FILE_UNREADABLE" as const,
    words: isMissing ? `there is no file ${path}` : `${path} cannot be read (${code ?? "unknown"})`,
    who,
    todo: isMissing ? initAgain : "let the user that runs Tandem read it",
  };
}
