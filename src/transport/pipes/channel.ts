/**
 * How the two ends of a connection between parties meet: this party dials the other, or the other dials this one.
 * Whichever does, mutual TLS begins on top, with the active party as its client, and nothing above sees it.
 */
import type { TLSSocket } from "node:tls";
import { pinnedSocket } from "../pinned-socket.ts";
import type { Address, TlsIdentity } from "../tls-settings.ts";
import { dial } from "./dial.ts";
import { leaseListener } from "./dialling-parties.ts";

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

export function wayTo(name: string, identity: TlsIdentity, pins: readonly string[], channel: Channel): Way {
  const at = placeOf(channel);
  if ("listen" in channel) {
    const lease = leaseListener(channel.listen, identity, { name, fingerprints: pins });
    return { at, open: () => lease.take(), close: () => lease.release() };
  }
  return {
    at,
    open: async () => pinnedSocket(name, identity, pins, await dial(channel), channel.host),
    close: () => {},
  };
}

export function placeOf(channel: Channel): string {
  const { host, port } = "listen" in channel ? channel.listen : channel;
  return `${host}:${port}`;
}
