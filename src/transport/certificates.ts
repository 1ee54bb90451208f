/**
 * Certificates for parties that have none (ECDSA P-256, SHA-256): self-signed ones, pinned by fingerprint, for
 * companies without their own; and a small certificate authority for `demo` and `simulate`.
 */
// @peculiar/x509 needs it loaded first.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** PEM texts. `key` is secret. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateAuthority {
  readonly certificate: string;
  /** A leaf certificate for a party at `hosts`. @param days left out: as the authority's */
  issue(name: string, hosts: readonly string[], days?: number): Promise<Identity>;
}

/** Of a certificate that is no authority: for both ends of a TLS connection. */
function leafExtensions(): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
  ];
}

/** A self-signed certificate, trusted only by its pinned fingerprint. */
export async function createSelfSigned(name: string, validDays: number): Promise<Identity> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [name] }],
    ...validityOf(validDays),
    signingAlgorithm: algorithm,
    keys,
    extensions: leafExtensions(),
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: `${await privateKeyPem(keys.privateKey)}\n` };
}

/** A new key, and a request that a company's own authority signs. */
export async function createRequest(name: string): Promise<{ readonly request: string; readonly key: string }> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await newKeys();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    extensions: leafExtensions(),
  });
  return { request: `${request.toString("pem")}\n`, key: `${await privateKeyPem(keys.privateKey)}\n` };
}

export async function createAuthority(name: string, validDays: number): Promise<CertificateAuthority> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await newKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    ...validityOf(validDays),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    certificate: authority.toString("pem"),
    async issue(subject, hosts, days = validDays) {
      const leafKeys = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: `CN=${subject}`,
        issuer: authority.subject,
        ...validityOf(days),
        signingAlgorithm: algorithm,
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          ...leafExtensions(),
          new x509.SubjectAlternativeNameExtension(
            hosts.map((host) => ({ type: /^[\d.]+$/.test(host) ? "ip" : "dns", value: host })),
          ),
        ],
      });
      return { certificate: certificate.toString("pem"), key: await privateKeyPem(leafKeys.privateKey) };
    },
  };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>;
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return x509.PemConverter.encode(bytes, "PRIVATE KEY");
}

/** Valid from an hour ago, for clocks that differ a little. */
function validityOf(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - 3600_000), notAfter: new Date(now + days * 86_400_000) };
}

function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] & 0x7f) | 0x40; // positive, and no leading zero
  return Buffer.from(bytes).toString("hex");
}
