/** The passive half of split outcomes by oblivious transfer (active-outcomes.ts): it sends, and hears nothing. */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { chosenKeys } from "../../crypto/transfer/base-transfer.ts";
import { BitSender, type MaskedBits } from "../../crypto/transfer/bit-transfer.ts";
import { outcomeContext } from "./active-outcomes.ts";

export { pieceCount } from "../../crypto/transfer/bit-transfer.ts";

export class PassiveOutcomes {
  #opened: { readonly opening: Uint8Array; readonly points: Promise<Uint8Array> } | null = null;
  #sender: BitSender | null = null;

  /**
   * Once: the same opening gets the same answer.
   * @throws TandemError PROTOCOL_STATE if it is no key, or another one
   */
  open(opening: Uint8Array): Promise<Uint8Array> {
    this.#opened ??= { opening, points: this.#open(opening) };
    if (Buffer.compare(this.#opened.opening, opening) !== 0)
      throw new TandemError("PROTOCOL_STATE", "there is a key for outcomes already");
    return this.#opened.points;
  }

  async #open(opening: Uint8Array): Promise<Uint8Array> {
    const chosen = await chosenKeys(opening, outcomeContext, osRandom);
    this.#sender = new BitSender(chosen);
    return chosen.points;
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
