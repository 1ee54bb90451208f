/** The passive half of finding the best candidate from shares (active-maximum.ts): it answers, and learns no winner. */
import { availableParallelism } from "node:os";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { osRandom } from "../../base/random.ts";
import type {
  KeptWinners,
  MaximumTerms,
  PassiveMaximum,
  PassiveMaximumSession,
  PassiveMaximumSetUp,
} from "../../crypto/maximum/maximum.ts";
import { selectMaximumKernel } from "../../crypto/maximum/select-kernel.ts";
import { passiveMaximumSetUp } from "../../crypto/maximum/session.ts";
import { joinedShares, type NodeShares } from "./node-shares.ts";

export type { KeptWinners } from "../../crypto/maximum/maximum.ts";
export { placeFrom } from "../../crypto/maximum/winners.ts";

export class PassiveMaximums {
  readonly #exclusive = new Exclusive();
  #setUp: PassiveMaximumSetUp | null = null;
  #session: PassiveMaximumSession | null = null;

  /** Answers a request for keys. @throws TandemError PROTOCOL_STATE if it is not the next one */
  keys(request: Uint8Array): Promise<Uint8Array> {
    return this.#exclusive.run(() => {
      this.#setUp ??= passiveMaximumSetUp({ kernel: selectMaximumKernel(availableParallelism()), random: osRandom });
      return this.#setUp.answer(request);
    });
  }

  /**
   * Begins a batch.
   * @param offered per node and candidate 1 if it may win
   * @param keep settles when what repeats the batch is stored: nothing is opened earlier
   * @throws TandemError PROTOCOL_STATE before there are keys, or if the batch is not new
   */
  begin(
    batch: number,
    rings: Pick<MaximumTerms, "bits" | "shareBits">,
    nodes: readonly NodeShares[],
    offered: readonly Uint8Array[],
    keep: (kept: KeptWinners) => Promise<void>,
  ): PassiveMaximum {
    if (this.#setUp === null) throw new TandemError("PROTOCOL_STATE", "keys for comparisons must be exchanged first");
    this.#session ??= this.#setUp.session();
    const terms = { ...rings, nodes: nodes.map(({ candidates }) => ({ candidates })) };
    return this.#session.begin(batch, terms, { sums: joinedShares(nodes), offered: Buffer.concat(offered), keep });
  }
}
