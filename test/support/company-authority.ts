/** A company's own certificate authority: signs requests, and revokes. */
// @peculiar/x509 needs it loaded first.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { createRequest } from "../../src/transport/certificates.ts";
import type { TlsIdentity } from "../../src/transport/tls-settings.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 86_400_000;
const dates = () => ({ notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 30 * dayMs) });

export async function companyAuthority(name: string) {
  x509.cryptoProvider.set(webcrypto);
  const newKeys = async () =>
    (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const keys = await newKeys();
  const flags = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    ...dates(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(flags, true)],
  });
  let serial = 16;
  const sign = async (text: string): Promise<string> => {
    const request = new x509.Pkcs10CertificateRequest(text);
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: (serial++).toString(16),
      subject: request.subject,
      issuer: root.subject,
      ...dates(),
      signingAlgorithm: algorithm,
      publicKey: await request.publicKey.export(),
      signingKey: keys.privateKey,
    });
    return `${certificate.toString("pem")}\n`;
  };
  return {
    certificate: root.toString("pem"),
    sign,
    async issue(subject: string): Promise<TlsIdentity> {
      const { request, key } = await createRequest(subject);
      return { certificate: await sign(request), key, authority: root.toString("pem") };
    },
    /** The list of these certificates. */
    async revoke(certificates: readonly string[]): Promise<string> {
      const list = await x509.X509CrlGenerator.create({
        issuer: root.subject,
        thisUpdate: new Date(Date.now() - 3_600_000),
        nextUpdate: new Date(Date.now() + dayMs),
        signingAlgorithm: algorithm,
        signingKey: keys.privateKey,
        entries: certificates.map((pem) => ({
          serialNumber: new x509.X509Certificate(pem).serialNumber,
          revocationDate: new Date(),
        })),
      });
      return list.toString("pem").replaceAll(" CRL", " X509 CRL");
    },
  };
}
