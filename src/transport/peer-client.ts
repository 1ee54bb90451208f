/** A PassivePeer over any Connect transport, in memory or TLS. */
import type { Transport } from "@connectrpc/connect";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { translatedClient } from "./translated-client.ts";

/** @param at where the party should be, for people */
export function peerOver(name: string, transport: Transport, at?: string): PassivePeer {
  const place = at === undefined ? {} : { at };
  return { name, ...translatedClient(PassiveParty, name, transport, { opening: "join", ...place }) };
}
