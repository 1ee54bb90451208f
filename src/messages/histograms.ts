/** Candidate sums of the nodes that are asked for. */
import { call, noBytes, type Note, ofAllPieces } from "./call.ts";

interface AskedNode {
  readonly tree: number;
  readonly request: Uint8Array;
  /** Per message. */
  readonly answers: Uint8Array[];
  readonly sums: Uint8Array[];
  readonly pieces: Uint8Array[];
}

export const histograms = call<"histograms">()({
  part: "tree",
  /**
   * An answer has two entries, because its ciphertexts are obfuscated anew each time: `answer` is everything else,
   * which follows from the opened data, and `sums` are the ciphertexts.
   */
  entries: {
    members: { tag: 5, sender: "active", about: "node", words: "who is in" },
    answer: { tag: 6, sender: "passive", about: "node", words: "the answer about" },
    sums: {
      tag: 7,
      sender: "passive",
      about: "node",
      words: "the sums of",
      isFresh: true,
      ofPieces: ofAllPieces,
      compared: "sums",
    },
  },
  recorder({ digests, keepsPieces }) {
    const asked = new Map<number, AskedNode>();
    let requests: Uint8Array[] = [];
    return {
      request(message) {
        const { tree, node, more } = message;
        if (requests.length === 0 && !more) {
          asked.set(node, { tree, request: digests.message(message), answers: [], sums: [], pieces: [] });
          return;
        }
        // A node with gradients of its own, in as many messages as they take. They are left out: they cannot be made
        // again, and digests of megabytes per node would take longer than anything else.
        requests.push(digests.message({ ...message, scheme: noBytes }));
        if (more) return;
        asked.set(node, { tree, request: digests.bytes(...requests), answers: [], sums: [], pieces: [] });
        requests = [];
      },
      answer(message) {
        const node = asked.get(message.node);
        if (node === undefined) return;
        node.answers.push(digests.message({ ...message, scheme: noBytes }));
        node.sums.push(digests.bytes(message.scheme));
        if (keepsPieces) node.pieces.push(message.scheme);
      },
      notes: () =>
        [...asked].flatMap(
          ([node, { tree, request, answers, sums, pieces }]): Note<"members" | "answer" | "sums">[] => [
            { kind: "members", tree, node, digest: request },
            { kind: "answer", tree, node, digest: digests.bytes(...answers) },
            { kind: "sums", tree, node, digest: ofAllPieces(digests, sums), ...(keepsPieces ? { pieces } : {}) },
          ],
        ),
    };
  },
});
