/** The order of a node's candidates in their owner's table, requested where some of them tie. */
import type { PassiveOrder } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Note, numberBytes, observation } from "./call.ts";

type OrderMessage = Pick<PassiveOrder, "tree" | "node"> & { readonly ranks: ArrayLike<number> };

const order = call<"order">()({
  part: "tree",
  entries: {
    order: { tag: 8, sender: "passive", about: "node", words: "the order of candidates at" },
  },
  observes: {
    order: observation({
      learner: "active",
      see: ({ tree, node, ranks }: OrderMessage) => {
        const entryCount = ranks.length;
        return { tree, node, entryCount, bytes: entryCount * numberBytes };
      },
      counts: { candidateOrders: ({ entryCount }) => entryCount },
    }),
  },
  ledger: {
    candidateOrders: {
      learner: "active",
      what: "the order of the node's candidates in their owner's table",
      unit: "unnamed candidates in order",
      scale: "candidates of splits",
    },
  },
  recorder({ digests }) {
    let tree = 0;
    /** By node: an order may come in several messages. */
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

export const orderCalls = { order };
