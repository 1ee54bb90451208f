/** The passive half of split outcomes by oblivious transfer (active-outcomes.ts): it sends, and hears nothing. */
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { osRandom } from "../../base/random.ts";
import { puncturedKeys } from "../../crypto/transfer/all-but-one.ts";
import { chosenKeys, type ChosenKeys } from "../../crypto/transfer/base-transfer.ts";
import { BitSender, type MaskedBits } from "../../crypto/transfer/bit-transfer.ts";
import { outcomeContext } from "./active-outcomes.ts";

export { pieceCount } from "../../crypto/transfer/bit-transfer.ts";

export class PassiveOutcomes {
  readonly #turns = new Exclusive();
  #chosen: ChosenKeys | null = null;
  #sender: BitSender | null = null;

  /**
   * Two messages, each once: whoever lost an answer begins another attempt.
   * @throws TandemError PROTOCOL_STATE if it is not the next one
   */
  keys(message: Uint8Array): Promise<Uint8Array> {
    return this.#turns.run(async () => {
      if (this.#sender !== null) throw new TandemError("PROTOCOL_STATE", "there are keys for outcomes already");
      if (this.#chosen === null) {
        this.#chosen = await chosenKeys(message, outcomeContext, osRandom);
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
    if (this.#sender === null) throw new TandemError("PROTOCOL_STATE", "outcomes before keys for them");
    return this.#sender.mask(batch, left, instanceCount);
  }
}
