/** The calls that find the best candidates of one passive party, where its sums are hidden. */
import { create } from "@bufbuild/protobuf";
import { Outbox } from "../../base/scheduling/outbox.ts";
import { ActiveMaximums, type ComparedNode, type NodeMaximum } from "../../scheme/maximum/active-maximum.ts";
import { type ActiveMaximum, ActiveMaximumSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { Pieces, piecesOf } from "../../wire/pieces.ts";
import { flightBytesMax } from "../hidden-sums.ts";
import type { PeerConnection } from "./peer-connection.ts";

/** Of the key that seals what a passive party keeps for this one. */
export const sealKeyBytes = 32;

/** Bits of the sums of any side, and of the ring of shares. */
export interface Rings {
  readonly bits: number;
  readonly shareBits: number;
}

/** A node, and how this party's shares of its sums follow from others' if they were not requested. */
export interface AskedMaximum extends ComparedNode {
  readonly node: number;
  readonly derived: { readonly parent: number; readonly sibling: number } | null;
}

export class PeerMaximum {
  readonly #connection: PeerConnection;
  readonly #sealKey: Uint8Array;
  #maximums: ActiveMaximums | null = null;

  constructor(connection: PeerConnection, sealKey: Uint8Array) {
    this.#connection = connection;
    this.#sealKey = sealKey;
  }

  /**
   * Per node its best candidate; undefined if none is better than the rival.
   * @param rings bits of the sums of any side, and of the ring of shares
   * @param lambda in steps of the grid
   */
  best(
    tree: number,
    rings: Rings,
    lambda: number,
    nodes: readonly AskedMaximum[],
  ): Promise<readonly (NodeMaximum | undefined)[]> {
    return this.#connection.guard(this.#best(tree, rings, lambda, nodes));
  }

  async #best(
    tree: number,
    rings: Rings,
    lambda: number,
    nodes: readonly AskedMaximum[],
  ): Promise<readonly (NodeMaximum | undefined)[]> {
    const { peer, options, tally } = this.#connection;
    const maximums = (this.#maximums ??= new ActiveMaximums());
    await maximums.open((request) => this.#exchangeKeys(request));
    const asked = nodes.map(({ node, derived }) => ({ node, ...(derived ?? { parent: 0, sibling: 0 }) }));
    let head: Partial<Pick<ActiveMaximum, "nodes">> = {
      nodes: create(ActiveMaximumSchema, {
        nodes: { tree, bits: rings.bits, batch: maximums.nextBatch, nodes: asked },
      }).nodes,
    };
    const requests = new Outbox<ActiveMaximum>();
    const answers = peer.maximum(requests, options)[Symbol.asyncIterator]();
    const pieces = new Pieces(flightBytesMax);
    try {
      let isFirst = true;
      const seal = { key: this.#sealKey, context: this.#contextOf(tree, rings, nodes) };
      const best = await maximums.best(rings, lambda, nodes, seal, async (request) => {
        for (const piece of piecesOf(request)) {
          tally.see("comparison", piece.scheme);
          requests.put(create(ActiveMaximumSchema, { ...head, ...piece }));
          head = {};
        }
        for (;;) {
          const { done, value } = await answers.next();
          const whole = done === true ? undefined : pieces.add(value);
          if (done === true || whole === undefined)
            throw this.#connection.deviates("a comparison that ends too early, or is too long");
          tally.see("compared shares", value.scheme);
          if (value.repeated && !isFirst) throw this.#connection.deviates("a repetition in the middle of a comparison");
          if (whole === null) continue;
          isFirst = false;
          return { answer: whole, isRepeated: value.repeated };
        }
      });
      requests.end();
      if ((await answers.next()).done !== true) throw this.#connection.deviates("more than the last comparison");
      for (const { node, parent, sibling } of asked) {
        if (sibling > 0) tally.see("tree shape", tree, node, parent, sibling);
        tally.see("best candidate", tree, node);
      }
      return best;
    } finally {
      requests.end();
      await answers.return?.();
    }
  }

  /** What sealed shares belong to. */
  #contextOf(tree: number, { bits }: Rings, nodes: readonly AskedMaximum[]): Uint8Array {
    const compared = nodes.map(({ node, shares: { candidates } }) => [node, candidates]);
    return Buffer.from(JSON.stringify([this.#connection.name, tree, bits, compared]));
  }

  async #exchangeKeys(request: Uint8Array): Promise<Uint8Array> {
    const { peer, options, tally } = this.#connection;
    const { scheme } = await peer.maximumKeys({ scheme: request }, options);
    tally.see("maximum keys", request);
    tally.see("maximum points", scheme);
    return scheme;
  }
}
