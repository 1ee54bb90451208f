/** A PassivePeer over any Connect transport, in memory or TLS. */
import { createClient, type Transport } from "@connectrpc/connect";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { fromWireError, translated, translatedStream, unreached } from "./wire-error.ts";

export function peerOver(name: string, transport: Transport): PassivePeer {
  const client = createClient(PassiveParty, transport);
  return {
    name,
    join: (hello, options) => reachedStream(name, () => client.join(hello, options)),
    setUp: (request, options) => translated(name, () => client.setUp(request, options)),
    gradients: (chunks, options) => translated(name, () => client.gradients(chunks, options)),
    histograms: (nodes, options) => translatedStream(name, () => client.histograms(nodes, options)),
    splits: (decisions, options) => translatedStream(name, () => client.splits(decisions, options)),
    finishTree: (request, options) => translated(name, () => client.finishTree(request, options)),
    predict: (request, options) => translatedStream(name, () => client.predict(request, options)),
    finishJob: (request, options) => translated(name, () => client.finishJob(request, options)),
  };
}

/** Before its first answer, a stream that breaks may never have reached anybody. */
async function* reachedStream<T>(name: string, call: () => AsyncIterable<T>): AsyncGenerator<T> {
  let answered = false;
  try {
    for await (const item of call()) {
      answered = true;
      yield item;
    }
  } catch (cause) {
    const error = fromWireError(cause, name);
    throw answered ? error : unreached(error, cause);
  }
}
