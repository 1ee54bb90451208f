/** The order of a node's candidates in their owner's table, asked for where some of them tie. */
import { call, type Note } from "./call.ts";

export const order = call<"order">()({
  part: "tree",
  entries: {
    order: { tag: 8, sender: "passive", about: "node", words: "the order of candidates at" },
  },
  recorder({ digests }) {
    let tree = 0;
    /** By node, wherever messages are cut. */
    const orders = new Map<number, number[][]>();
    return {
      request: (message) => (tree = message.tree),
      answer({ node, ranks }) {
        orders.set(node, [...(orders.get(node) ?? []), ranks]);
      },
      notes: () =>
        [...orders].map(([node, pieces]): Note<"order"> => {
          const digest = digests.bytes(new Uint8Array(Uint32Array.from(pieces.flat()).buffer));
          return { kind: "order", tree, node, digest };
        }),
    };
  },
});
