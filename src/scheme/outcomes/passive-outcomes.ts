/** The passive half of split outcomes by oblivious transfer (active-outcomes.ts): it sends, and learns no choice. */
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { osRandom } from "../../base/random.ts";
import { puncturedKeys } from "../../crypto/transfer/all-but-one.ts";
import { baseReceiverKeys, type BaseReceiverKeys } from "../../crypto/transfer/base-ot.ts";
import { BitSender, type MaskedBits } from "../../crypto/transfer/soft-spoken-ot.ts";
import { outcomeContext } from "./active-outcomes.ts";

export { pieceCount } from "../../crypto/transfer/soft-spoken-ot.ts";

export class PassiveOutcomes {
  readonly #exclusive = new Exclusive();
  #chosen: BaseReceiverKeys | null = null;
  #sender: BitSender | null = null;

  /**
   * Two messages, each once: after a lost answer the active party begins another attempt.
   * @throws TandemError PROTOCOL_STATE if it is not the next one
   */
  keys(message: Uint8Array): Promise<Uint8Array> {
    return this.#exclusive.run(async () => {
      if (this.#sender !== null) throw new TandemError("PROTOCOL_STATE", "keys for outcomes were exchanged before");
      if (this.#chosen === null) {
        this.#chosen = await baseReceiverKeys(message, outcomeContext, osRandom);
        return this.#chosen.points;
      }
      this.#sender = new BitSender(puncturedKeys(this.#chosen, message));
      return new Uint8Array(0);
    });
  }

  /**
   * @param left bitmap over all instances
   * @throws TandemError PROTOCOL_STATE before there are keys, or if the batch is not new
   */
  mask(batch: number, left: Uint8Array, instanceCount: number): MaskedBits {
    if (this.#sender === null) throw new TandemError("PROTOCOL_STATE", "keys for outcomes must be exchanged first");
    return this.#sender.mask(batch, left, instanceCount);
  }
}
