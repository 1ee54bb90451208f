/** Identities of two parties under one authority, and a passive service listening on loopback. */
import { PassiveParty } from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { callsTo, everyCall } from "../../src/wire/every-call.ts";
import type { CallOptions, PassivePeer } from "../../src/wire/peer.ts";
import { type CertificateAuthority, createAuthority, type Identity } from "../../src/transport/certificates.ts";
import type { PassiveService } from "../../src/transport/passive-service.ts";
import { certificateFingerprint } from "../../src/transport/pinned-certificate.ts";
import { connectTls, type TlsPeer } from "../../src/transport/tls-connect.ts";
import { listenTls, type ListeningServer } from "../../src/transport/tls-listen.ts";
import type { TlsIdentity } from "../../src/transport/tls-settings.ts";

export const loopback = { host: "127.0.0.1", port: 0 };

export interface TlsParties {
  readonly authority: CertificateAuthority;
  readonly active: TlsIdentity;
  readonly passive: TlsIdentity;
}

export async function tlsParties(): Promise<TlsParties> {
  const authority = await createAuthority("test authority", 1);
  return { authority, active: await issued(authority, "bank"), passive: await issued(authority, "telecom") };
}

export async function issued(authority: CertificateAuthority, name: string): Promise<TlsIdentity> {
  return withAuthority(await authority.issue(name, ["127.0.0.1"]), authority);
}

export function withAuthority(identity: Identity, authority: CertificateAuthority): TlsIdentity {
  return { ...identity, authority: authority.certificate };
}

export interface Listening {
  readonly server: ListeningServer;
  connect(name: string, identity?: TlsIdentity, pinned?: string): TlsPeer;
}

export async function listening(
  service: PassiveService,
  parties: TlsParties,
  own: TlsIdentity = parties.passive,
): Promise<Listening> {
  const server = await listenTls(
    service,
    own,
    [{ name: "bank", fingerprints: [certificateFingerprint(parties.active.certificate)] }],
    loopback,
  );
  return {
    server,
    connect: (name, identity = parties.active, pinned = certificateFingerprint(parties.passive.certificate)) =>
      connectTls(name, identity, [pinned], { host: "127.0.0.1", port: server.port }),
  };
}

/** A peer that can be used at once, although its server is still being started. */
export function peerOnceReady(name: string, ready: Promise<PassivePeer>): PassivePeer {
  const calls = everyCall<Omit<PassivePeer, "name">, CallOptions>(
    PassiveParty,
    async function* (method, requests, options) {
      yield* callsTo<CallOptions>(await ready)(method, requests, options);
    },
  );
  return { ...calls, name };
}
