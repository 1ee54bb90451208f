/** One party's candidate orders for the nodes of a level, assembled from their pieces and checked on arrival. */
import type { TandemError } from "../../base/error.ts";
import { isOrder } from "../../scheme/candidates/candidate-order.ts";
import type { PassiveOrder } from "../../wire/generated/tandem/v1/tandem_pb.ts";

export class OrderAnswers {
  readonly #tree: number;
  readonly #deviates: (what: string) => TandemError;
  readonly #orders: Map<number, Uint32Array>;
  /** Number of received entries per node. */
  readonly #received: Map<number, number>;

  /** @param entryCounts per node that is asked about @param deviates makes the error that names the party */
  constructor(tree: number, entryCounts: ReadonlyMap<number, number>, deviates: (what: string) => TandemError) {
    this.#tree = tree;
    this.#deviates = deviates;
    this.#orders = new Map(Array.from(entryCounts, ([node, count]) => [node, new Uint32Array(count)]));
    this.#received = new Map(Array.from(entryCounts.keys(), (node) => [node, 0]));
  }

  /** @throws TandemError PROTOCOL_STATE */
  add({ tree, node, firstEntry, ranks }: PassiveOrder): void {
    const order = this.#orders.get(node);
    const isNext = order !== undefined && tree === this.#tree && firstEntry === this.#received.get(node);
    if (!isNext || ranks.length === 0 || firstEntry + ranks.length > order.length)
      throw this.#deviates("an order that was not asked for");
    order.set(ranks, firstEntry);
    this.#received.set(node, firstEntry + ranks.length);
  }

  /** Per node its order. @throws TandemError PROTOCOL_STATE */
  whole(): Map<number, Uint32Array> {
    for (const [node, order] of this.#orders) {
      if (this.#received.get(node) !== order.length || !isOrder(order))
        throw this.#deviates(`a candidate order of node ${node} that is not a permutation`);
    }
    return this.#orders;
  }
}
