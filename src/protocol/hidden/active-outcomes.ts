/**
 * The splits that one passive party has won, where members are hidden and the job hides outcomes: by oblivious transfer
 * the active party receives the sides of the node's members, and of no other instance.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { Tally } from "../../messages/tally.ts";
import { ActiveOutcomes } from "../../scheme/outcomes/active-outcomes.ts";
import {
  ActiveHiddenSplitsSchema,
  type ActiveHiddenSplits,
  type ActiveSplitDecisionsSchema,
  type PassiveSplit,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions, PassivePeer } from "../../wire/peer.ts";

/** The instances of a batch whose sides are requested. */
interface Wanted {
  readonly node: number;
  /** The node's members. */
  readonly instances: Uint32Array;
}

type Pending = ReturnType<ActiveOutcomes["choose"]>;

export class OutcomeTransfers {
  readonly #peer: PassivePeer;
  readonly #tally: Tally;
  readonly #outcomes = new ActiveOutcomes();
  #isOpen: Promise<void> | null = null;

  constructor(peer: PassivePeer, tally: Tally) {
    this.#peer = peer;
    this.#tally = tally;
  }

  /**
   * As `splits` of the peer answers where outcomes are sent: bitmaps over all instances, with bits set for members of
   * the node only.
   * @param wanted the nodes of the request, in its order
   */
  async *splits(
    request: MessageInitShape<typeof ActiveSplitDecisionsSchema>,
    wanted: readonly Wanted[],
    instanceCount: number,
    options: CallOptions,
  ): AsyncGenerator<PassiveSplit> {
    await (this.#isOpen ??= this.#open(options));
    const pending = new Map<number, Pending>();
    const messages = this.#messages(request, wanted, instanceCount, pending);
    for await (const split of this.#peer.hiddenSplits(messages, options)) {
      const chosen = pending.get(split.node);
      if (chosen === undefined)
        throw new TandemError("PROTOCOL_STATE", "the outcome of a split before it was requested");
      pending.delete(split.node);
      yield { ...split, leftMembers: chosen.finish(split.leftMembers) };
    }
  }

  /** Set up when the first split is won. */
  async #open(options: CallOptions): Promise<void> {
    const points = await this.#tell(this.#outcomes.opening, options);
    await this.#tell(await this.#outcomes.opened(points), options);
  }

  async #tell(message: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { scheme: answer } = await this.#peer.outcomeKeys({ scheme: message }, options);
    this.#tally.see("outcome keys", message);
    this.#tally.see("outcome points", answer);
    return answer;
  }

  async *#messages(
    request: MessageInitShape<typeof ActiveSplitDecisionsSchema>,
    wanted: readonly Wanted[],
    instanceCount: number,
    pending: Map<number, Pending>,
  ): AsyncGenerator<ActiveHiddenSplits> {
    yield create(ActiveHiddenSplitsSchema, { request, firstBatch: this.#outcomes.nextBatch });
    for (const { node, instances } of wanted) {
      const chosen = this.#outcomes.choose(instances, instanceCount);
      pending.set(node, chosen);
      let bytes = 0;
      for (let scheme = chosen.piece(); scheme !== null; scheme = chosen.piece()) {
        bytes += scheme.length;
        yield create(ActiveHiddenSplitsSchema, { scheme });
        if (isSliceOver()) await nextSlice();
      }
      this.#tally.see("choices", request.tree ?? 0, node, bytes);
    }
  }
}
