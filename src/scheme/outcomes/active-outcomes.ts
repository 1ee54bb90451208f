/**
 * The active half of split outcomes by oblivious transfer. A passive party that does not know the instances of a node
 * splits all instances. The active party gets the sides of the node's instances only; the passive party does not learn
 * which they are (crypto/transfer/soft-spoken-ot.ts).
 *
 *   active                                 passive
 *     a key                    -->           points of base transfers          (once per attempt)
 *                              <--
 *     sums of its trees        -->           all leaves but one of each
 *     choices of the node's
 *     instances, as a matrix   -->           sides of all instances, masked    (per split)
 *                              <--
 *
 * A malicious active party can choose all instances: it then has what it would have without this, and no more. The
 * passive party refuses a matrix whose columns are inconsistent, and the rest of the attempt's transfers with it. A
 * malicious passive party can falsify sides of its choice, and see from the end of the job whether one of these
 * instances was in the node. It can do the same where sides are sent in the clear.
 */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { ggmKeys } from "../../crypto/transfer/all-but-one.ts";
import { type AgreementKey, baseSenderKeys, newAgreementKey } from "../../crypto/transfer/base-ot.ts";
import { BitReceiver, type ChosenBits } from "../../crypto/transfer/soft-spoken-ot.ts";

/** Separates these keys from those of other transfers. */
export const outcomeContext = "split outcomes";

export class ActiveOutcomes {
  readonly #key: AgreementKey = newAgreementKey();
  #receiver: BitReceiver | null = null;
  #batches = 0;

  /** The first message. */
  get opening(): Uint8Array {
    return this.#key.publicKey;
  }

  /** The second message. @param points the passive half's answer to the first */
  async opened(points: Uint8Array): Promise<Uint8Array> {
    const { leaves, sums } = ggmKeys(await baseSenderKeys(this.#key, points, outcomeContext), osRandom);
    this.#receiver = new BitReceiver(leaves);
    return sums;
  }

  /** The number of the next batch. */
  get nextBatch(): number {
    return this.#batches + 1;
  }

  /**
   * The next batch.
   * @param members the instances whose sides are chosen
   */
  choose(members: Uint32Array, instanceCount: number): ChosenBits {
    if (this.#receiver === null) throw new TandemError("PROTOCOL_STATE", "keys for outcomes must be exchanged first");
    const choices = new Uint8Array(Math.ceil(instanceCount / 8));
    for (const member of members) choices[member >>> 3] |= 1 << (member & 7);
    return this.#receiver.choose(++this.#batches, choices, instanceCount);
  }
}
