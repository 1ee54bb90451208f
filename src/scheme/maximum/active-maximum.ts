/**
 * The active half of finding the best candidate of each node from shares of the sums (crypto/maximum). Messages are
 * bytes to everyone else.
 *
 *   active                                 passive
 *     keys                         <->       keys                          (once per attempt)
 *     requests of a batch          <->       answers                       (per level of a tree)
 *     its sealed shares of winners  -->      kept, with its own; then the winners' sums are opened
 *     its share of a place          -->      the candidate that won        (per split that the party wins)
 */
import { availableParallelism } from "node:os";
import { osRandom } from "../../base/random.ts";
import type {
  ActiveMaximumSession,
  MaximumTerms,
  NodeMaximum,
  NodeTotals,
  Requests,
} from "../../crypto/maximum/maximum.ts";
import { selectMaximumKernel } from "../../crypto/maximum/select-kernel.ts";
import { activeMaximumSetUp } from "../../crypto/maximum/session.ts";
import { type Seal, winnersAgain } from "../../crypto/maximum/winners.ts";
import { withAdded } from "../candidates/node-masks.ts";
import { joinedShares, type NodeShares } from "./node-shares.ts";

export type { NodeMaximum } from "../../crypto/maximum/maximum.ts";
export type { Seal } from "../../crypto/maximum/winners.ts";

/** A node, with this party's shares of its candidates' sums. */
export interface ComparedNode {
  readonly shares: NodeShares;
  readonly totals: NodeTotals;
}

/** Sends a request, and returns its answer. */
export type Tell = (request: Uint8Array) => Promise<Uint8Array>;

/** @returns the answer; repeated: to the first request, of a batch that was opened in an earlier attempt */
export type TellOnce = (request: Uint8Array) => Promise<{ readonly answer: Uint8Array; readonly isRepeated: boolean }>;

export class ActiveMaximums {
  #session: Promise<ActiveMaximumSession> | null = null;
  #batches = 0;

  /** Exchanges keys, once. */
  open(tell: Tell): Promise<unknown> {
    return (this.#session ??= this.#open(tell));
  }

  get nextBatch(): number {
    return this.#batches + 1;
  }

  /**
   * The best candidate of each node; undefined where none is better than the rival.
   * @param rings bits of the sums of any side, and of the ring of shares
   * @param lambda in steps of the grid
   * @param seal of what the passive party keeps of this batch
   */
  async best(
    rings: Pick<MaximumTerms, "bits" | "shareBits">,
    lambda: number,
    nodes: readonly ComparedNode[],
    seal: Seal,
    tell: TellOnce,
  ): Promise<readonly (NodeMaximum | undefined)[]> {
    const session = await this.#session;
    if (session === null) throw new RangeError("keys are exchanged before a batch");
    const { gradients, hessians } = joinedShares(nodes.map(({ shares }) => shares));
    const terms = { ...rings, nodes: nodes.map(({ shares: { candidates } }) => ({ candidates })) };
    const batch = session.begin(++this.#batches, terms, {
      totals: nodes.map(({ totals }) => totals),
      sums: { gradients, hessians: withAdded(hessians, lambda) },
      seal,
    });
    let request: Uint8Array | undefined = await batch.first();
    while (request !== undefined) {
      const { answer, isRepeated } = await tell(request);
      if (isRepeated) return winnersAgain(terms, answer, seal);
      request = await batch.next(answer);
    }
    return batch.result();
  }

  async #open(tell: Tell): Promise<ActiveMaximumSession> {
    const setUp = activeMaximumSetUp({ kernel: selectMaximumKernel(availableParallelism()), random: osRandom });
    await answered(setUp, tell);
    return setUp.session();
  }
}

async function answered(requests: Requests, tell: Tell): Promise<void> {
  let request: Uint8Array | undefined = await requests.first();
  while (request !== undefined) request = await requests.next(await tell(request));
}
