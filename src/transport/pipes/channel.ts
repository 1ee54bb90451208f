/**
 * How the two ends of a connection between parties meet: this party dials the other, the other dials this
 * one, or both dial a relay.
 * Whichever does, mutual TLS begins on top, with the active party as its client, and nothing above sees it.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type ConnectionTrouble, connectionTrouble, StepError } from "../connection-trouble.ts";
import { CertificateRefused } from "../pinned-certificate.ts";
import { pinnedSocket } from "../pinned-socket.ts";
import type { Address, TlsIdentity } from "../tls-settings.ts";
import { dial, type Dialled } from "./dial.ts";
import { type Lease, leaseListener } from "./dialling-parties.ts";
import { openThroughRelay, type RelayAccess, relayPlace } from "./relay-pipe.ts";

/** The other party dials this address of ours. */
export interface ListeningChannel {
  readonly listen: Address;
}

/** Both dial a relay. */
export interface RelayChannel {
  readonly relay: RelayAccess;
}

export type Channel = Dialled | ListeningChannel | RelayChannel;

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
      if ("relay" in channel) return securedAtRelay(name, identity, pins, await openThroughRelay(channel.relay, name));
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
  if ("relay" in channel) return `room ${channel.relay.room} of the relay ${relayPlace(channel.relay)}`;
  const { host, port } = "listen" in channel ? channel.listen : channel;
  return `${host}:${port}`;
}

/**
 * Without the name of a host in TLS, which the relay would see. What goes wrong is not lasting: the relay may join the
 * next connection to the right party, and pass its bytes on as they are.
 */
export async function securedAtRelay(
  name: string,
  identity: TlsIdentity,
  pins: readonly string[],
  pipe: Socket,
): Promise<TLSSocket> {
  try {
    return await pinnedSocket(name, identity, pins, pipe, null);
  } catch (error) {
    throw new StepError(throughRelay(error, name));
  }
}

function throughRelay(error: unknown, name: string): ConnectionTrouble {
  if (error instanceof CertificateRefused)
    return {
      step: "fingerprint",
      words: `the relay joined this party to another one than ${name}: its certificate is refused: ${error.message}`,
      by: "both",
      todo:
        "compare the fingerprint by telephone; if it is the pinned one, another party uses a token of the room: " +
        "have the relay's operator replace it",
      isLasting: false,
    };
  const known = connectionTrouble(error, name, "the relay");
  if (known !== null && known.step !== "TLS" && known.step !== "TCP") return { ...known, isLasting: false };
  return {
    step: "TLS",
    words: `there is no TLS with ${name} through the relay: bytes were lost or changed, or ${name} closed it`,
    by: "both",
    todo: `look at the log of ${name}'s party for a 'turned-away' line; without one the relay is at fault`,
    isLasting: false,
  };
}
