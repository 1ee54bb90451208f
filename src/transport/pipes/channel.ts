/**
 * How the two ends of a connection between parties meet: this party dials the other, or the other dials this one.
 * Whichever does, mutual TLS begins on top, with the active party as its client, and nothing above sees it.
 */
import type { TLSSocket } from "node:tls";
import { pinnedSocket } from "../pinned-socket.ts";
import type { Address, TlsIdentity } from "../tls-settings.ts";
import { dial } from "./dial.ts";
import { type Lease, leaseListener } from "./dialling-parties.ts";

/** The other party dials this address of ours. */
export interface ListeningChannel {
  readonly listen: Address;
}

export type Channel = Address | ListeningChannel;

/** A passive party, as an active one reaches it. */
export interface Way {
  /** For error messages. */
  readonly at: string;
  /** A new connection, over which the party has presented a pinned certificate. */
  open(): Promise<TLSSocket>;
  close(): void;
}

/** What this party shows, and what it accepts. */
export interface Credentials {
  readonly identity: TlsIdentity;
  readonly pins: readonly string[];
}

/** @param credentials asked for each connection: either side may have renewed its certificate */
export function wayTo(name: string, credentials: () => Promise<Credentials>, channel: Channel): Way {
  const at = placeOf(channel);
  if ("listen" in channel) return listeningWay(name, credentials, channel, at);
  return {
    at,
    open: async () => {
      const { identity, pins } = await credentials();
      return pinnedSocket(name, identity, pins, await dial(channel), channel.host);
    },
    close: () => {},
  };
}

function listeningWay(
  name: string,
  credentials: () => Promise<Credentials>,
  { listen }: ListeningChannel,
  at: string,
): Way {
  let lease: Lease | null = null;
  let isClosed = false;
  return {
    at,
    open: async () => {
      const { identity, pins } = await credentials();
      const before = lease;
      lease = leaseListener(listen, identity, { name, fingerprints: pins });
      before?.release();
      if (isClosed) lease.release();
      return lease.take();
    },
    close: () => {
      isClosed = true;
      lease?.release();
    },
  };
}

export function placeOf(channel: Channel): string {
  const { host, port } = "listen" in channel ? channel.listen : channel;
  return `${host}:${port}`;
}
