/** A PassivePeer over any Connect transport, in memory or TLS. */
import { createClient, type Transport } from "@connectrpc/connect";
import { PassiveParty } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../protocol/peer.ts";
import { translated, translatedStream } from "./wire-error.ts";

export function peerOver(name: string, transport: Transport): PassivePeer {
  const client = createClient(PassiveParty, transport);
  return {
    name,
    join: (hello, options) => translatedStream(name, () => client.join(hello, options)),
    setUp: (request, options) => translated(name, () => client.setUp(request, options)),
    gradients: (chunks, options) => translated(name, () => client.gradients(chunks, options)),
    histograms: (nodes, options) => translatedStream(name, () => client.histograms(nodes, options)),
    splits: (decisions, options) => translatedStream(name, () => client.splits(decisions, options)),
    finishTree: (request, options) => translated(name, () => client.finishTree(request, options)),
    predict: (request, options) => translatedStream(name, () => client.predict(request, options)),
    finishJob: (request, options) => translated(name, () => client.finishJob(request, options)),
  };
}
