/** A PassivePeer over any Connect transport, in memory or TLS. */
import type { Transport } from "@connectrpc/connect";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { clientOver, type ClientOptions } from "./client.ts";

export type PeerOptions = Pick<ClientOptions<typeof PassiveParty>, "at" | "refusal" | "watch">;

export function peerOver(name: string, transport: Transport, options: PeerOptions = {}): PassivePeer {
  return { name, ...clientOver(PassiveParty, name, transport, { opening: "join", ...options }) };
}
