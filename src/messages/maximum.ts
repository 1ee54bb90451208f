/** The best candidate of each node of a level, in a job with hidden sums: all that the active party learns of them. */
import type { ActiveMaximum } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, noBytes, type Note, numberBytes, observation } from "./call.ts";

/** Once per attempt: keys for oblivious transfers, which reveal nothing. */
const maximumKeys = call<"maximumKeys">()({
  part: "attempt",
  observes: {
    "maximum keys": observation({ learner: "passive", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
    "maximum points": observation({ learner: "active", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
  },
});

const maximum = call<"maximum">()({
  part: "tree",
  entries: {
    comparisons: { tag: 14, sender: "active", about: "node", words: "the comparisons from", isFresh: true },
    compared: {
      tag: 15,
      sender: "passive",
      about: "node",
      words: "the answers to the comparisons from",
      isFresh: true,
    },
  },
  observes: {
    comparison: observation({ learner: "passive", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
    "compared shares": observation({ learner: "active", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
    /**
     * At most: the passive party does not know whether its best candidate beats that of the active party, and learns it
     * only then. Both ends count the node.
     */
    "best candidate": observation({
      learner: "active",
      see: (tree: number, node: number) => ({ tree, node, bytes: 0 }),
      counts: { bestCandidates: () => 1 },
    }),
    /** How a node's sums follow from others'; that of a requested node is not counted. */
    "tree shape": observation({
      learner: "passive",
      see: (tree: number, node: number, parent: number, sibling: number) => ({
        tree,
        node,
        parent,
        sibling,
        bytes: 3 * numberBytes,
      }),
    }),
  },
  ledger: {
    bestCandidates: {
      learner: "active",
      what: "of each node the sums of g and h of one side of its best candidate, where sums are hidden",
      unit: "unnamed candidates, one for each node at most",
      scale: "nodes",
    },
  },
  recorder({ digests }) {
    let first: { readonly tree: number; readonly node: number } | null = null;
    const requests: Uint8Array[] = [];
    const answers: Uint8Array[] = [];
    return {
      request(message: ActiveMaximum) {
        if (message.nodes !== undefined)
          first ??= { tree: message.nodes.tree, node: message.nodes.nodes[0]?.node ?? 0 };
        requests.push(digests.message({ ...message, scheme: noBytes }), digests.bytes(message.scheme));
      },
      answer: (message) =>
        answers.push(digests.message({ ...message, scheme: noBytes }), digests.bytes(message.scheme)),
      /** All messages of the call, filed under its first node. */
      notes(): readonly Note<"comparisons" | "compared">[] {
        if (first === null) return [];
        return [
          { kind: "comparisons", ...first, digest: digests.bytes(...requests) },
          { kind: "compared", ...first, digest: digests.bytes(...answers) },
        ];
      },
    };
  },
});

export const maximumCalls = { maximumKeys, maximum };
