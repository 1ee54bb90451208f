/**
 * What both ends of a connection have in common: gRPC over HTTP/2 and TLS 1.3, with certificates on both sides.
 *
 * HTTP/2's default window of 64 KB would cap a stream at a few MB/s on any real network, so both ends open theirs to 8
 * MB. Ciphertexts do not compress: compression is off.
 */
import { messageBytesMax } from "../wire/version.ts";
import type { Identity } from "./certificates.ts";

export const windowBytes = 8 << 20;
/** How often an active party pings. */
export const pingIntervalMs = 20_000;

/** Path of the stream that all calls of a connection share. */
export const callsPath = "/tandem.v1/calls";

export const messageLimits = { readMaxBytes: messageBytesMax, writeMaxBytes: messageBytesMax, acceptCompression: [] };

/** What a party needs for TLS. */
export interface TlsIdentity extends Identity {
  /** PEM of the agreed certificate authority, if there is one; several while it changes. */
  readonly authority?: string | undefined;
  /** PEM of its list of revoked certificates. */
  readonly revoked?: string | undefined;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Without an authority these options accept any certificate: the caller must compare fingerprints. */
export function tlsOptions({ authority, revoked, certificate, key }: TlsIdentity) {
  return {
    cert: certificate,
    key,
    minVersion: "TLSv1.3",
    rejectUnauthorized: authority !== undefined,
    ...(authority === undefined ? {} : { ca: authority }),
    ...(revoked === undefined ? {} : { crl: listsIn(revoked) }),
  } as const;
}

/** OpenSSL takes one list at a time. */
export function listsIn(pem: string): string[] {
  return pem.match(/-----BEGIN X509 CRL-----[\s\S]*?-----END X509 CRL-----/g) ?? [pem];
}

/** How a stalled connection is detected. */
export interface Liveness {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}
