/** Identities of two parties under one authority, and a passive service listening on loopback. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
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
    [{ name: "bank", fingerprint: certificateFingerprint(parties.active.certificate) }],
    loopback,
  );
  return {
    server,
    connect: (name, identity = parties.active, pinned = certificateFingerprint(parties.passive.certificate)) =>
      connectTls(name, identity, pinned, { host: "127.0.0.1", port: server.port }),
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

/**
 * A TCP connection through which two parties talk and that a test can cut, as a killed process or a pulled cable does.
 */
export async function cuttableWay(
  port: number,
): Promise<{ readonly port: number; cut(): void; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const close = (): Promise<void> => {
    cut();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { port: (server.address() as AddressInfo).port, cut, close };
}

/**
 * A proxy on which the n-th connection breaks after a number of bytes in one direction, or goes silent, or flips a bit.
 */
export async function troubledWay(
  port: number,
  troubles: readonly Trouble[],
): Promise<{ readonly port: number; readonly connections: () => number; close(): Promise<void> }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const trouble = troubles.at(connections++);
    const outgoing = connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    }
    let silent = false;
    const passing = (from: Socket, to: Socket, direction: Trouble["direction"]): void => {
      let left = trouble?.direction === direction ? trouble.bytes : Infinity;
      from.on("data", (data: Buffer) => {
        if (silent) return;
        if (trouble?.kind === "noise" && left <= data.length) {
          data[left - 1] ^= 1;
          left = Infinity;
        }
        to.write(data.subarray(0, Math.min(left, data.length)));
        left -= data.length;
        if (left > 0) return;
        if (trouble?.kind === "silence") silent = true;
        // Not destroyed: what was said before is still delivered.
        else for (const socket of [incoming, outgoing]) socket.end();
      });
      from.on("close", () => !silent && to.destroy());
    };
    passing(incoming, outgoing, "to passive");
    passing(outgoing, incoming, "to active");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> => {
    sockets.forEach((socket) => socket.destroy());
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { port: (server.address() as AddressInfo).port, connections: () => connections, close };
}

export interface Trouble {
  /** Noise is one bit that arrives as the other. */
  readonly kind: "cut" | "silence" | "noise";
  readonly direction: "to passive" | "to active";
  readonly bytes: number;
}
