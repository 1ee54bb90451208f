/**
 * The active half of split outcomes by oblivious transfer. A passive party that does not know who is in a node splits
 * everybody. The active party gets the sides of the node's people, and of nobody else; the passive party does not learn
 * for whom it was asked (crypto/transfer/bit-transfer.ts).
 *
 *   active                                 passive
 *     a key                    -->           points of base transfers          (once per attempt)
 *                              <--
 *     sums of its trees        -->           all leaves but one of each
 *     who is in the node,
 *     as a matrix over all     -->           everybody's sides, masked         (per split)
 *                              <--
 *
 * An active party that deviates can ask for everybody: it then has what it would have without this, and no more. A
 * passive party that deviates can spoil sides of its choice, and see from the end of the job whether one of them was
 * somebody's in the node. It can do the same where sides are told in the clear.
 */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { grownKeys } from "../../crypto/transfer/all-but-one.ts";
import { type AgreementKey, givenKeys, newAgreementKey } from "../../crypto/transfer/base-transfer.ts";
import { BitReceiver, type ChosenBits } from "../../crypto/transfer/bit-transfer.ts";

/** What tells these keys from those of other transfers. */
export const outcomeContext = "split outcomes";

export class ActiveOutcomes {
  readonly #key: AgreementKey = newAgreementKey();
  #receiver: BitReceiver | null = null;
  #batches = 0;

  /** The first message. */
  get opening(): Uint8Array {
    return this.#key.publicKey;
  }

  /** The second message. @param points what the passive half has said to the first */
  async opened(points: Uint8Array): Promise<Uint8Array> {
    const { leaves, sums } = grownKeys(await givenKeys(this.#key, points, outcomeContext), osRandom);
    this.#receiver = new BitReceiver(leaves);
    return sums;
  }

  /** The number of the next batch. */
  get nextBatch(): number {
    return this.#batches + 1;
  }

  /**
   * The next batch.
   * @param members the people whose sides are wanted, of so many
   */
  choose(members: Uint32Array, instanceCount: number): ChosenBits {
    if (this.#receiver === null) throw new TandemError("PROTOCOL_STATE", "outcomes before keys for them");
    const choices = new Uint8Array(Math.ceil(instanceCount / 8));
    for (const member of members) choices[member >>> 3] |= 1 << (member & 7);
    return this.#receiver.choose(++this.#batches, choices, instanceCount);
  }
}
