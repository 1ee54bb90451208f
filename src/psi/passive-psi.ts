/**
 * The passive side of private set intersection by commutative masking (Meadows 1986; Huberman, Franklin, Hogg 1999) on
 * Curve25519, as a state machine that knows no network. With H an id hashed to the curve, a and b the two parties'
 * secrets, drawn anew for each run:
 *
 *   active                                     passive
 *     | begin: hash domain, normalisations, n    |
 *     |----------------------------------------->|
 *     |<-----------------------------------------| count
 *     | a H(x) in secret order, chunks           |
 *     |----------------------------------------->|
 *     |<-----------------------------------------| ab H(x), same order      remask
 *     |<-----------------------------------------| b H(y) in secret order   maskedIds
 *     | positions of the common y, ascending     |
 *     |----------------------------------------->|                          accept
 *
 * A mask hides an id as long as decisional Diffie-Hellman is hard on the curve. An active party can ask about any id
 * that it can guess, whether it holds it or not: `activeIdCountMax` bounds how many in one run, and the budget of its
 * partner how many in a day.
 *
 * The order is enforced, since points can be passed on. An active party that gets masked ids of two passive parties A
 * and B could send each of them the other's as its own, and count which points come back from both: the size of an
 * intersection that it must not learn. To compare them it needs A's mask on B's masked ids, and B's on A's. (Two
 * products of masks are only comparable if the same masks are in both; no party can remove a mask.) But
 *
 *   A masks B's masked ids      => B has sent masked ids before A's remask was over
 *   B masks A's masked ids      => A has sent masked ids before B's remask was over
 *   a party sends masked ids    => its own remask is over, whole and checked
 *
 * and these say: A's remask was over before B's, and B's before A's. So one of the two must be missing, for any number
 * of relaying parties, connections, jobs and colluding active parties; A and B may also be two runs of one party.
 * Answers of remask may be sent while its points still arrive: the argument needs only the time of the last point.
 * Every run draws a new mask and takes one remask, so nothing can be asked afterwards.
 *
 * Nor can points be passed on to an honest *active* party: ids are hashed together with the fingerprint of the active
 * party (`boundTo`), so that points made for one mean nothing to another.
 *
 * Points of small order and non-canonical encodings are refused. A point that the active party sends twice is answered
 * twice with the same point: it is charged twice and reveals nothing more.
 *
 * @reveals active: the number of ids that the party holds; which of the active party's ids the party holds too
 */
import { TandemError } from "../base/error.ts";
import { type PsiAnswer, type PsiOffer, type PsiOptions, idCountMax, settled } from "./psi-peer.ts";
import { byAscendingId } from "./common-order.ts";
import { pointBytes } from "./curve25519.ts";
import { hashDomain } from "./hash-to-curve.ts";
import { MaskingPool } from "./masking-pool.ts";
import type { DistinctIds } from "./normalise.ts";
import { maskedIds, maskedPeerPoints } from "./point-chunks.ts";
import { readPositions } from "./position-set.ts";
import { randomPermutation } from "./random-permutation.ts";

export interface PassivePsiOptions extends PsiOptions {
  /** How many ids the active party may bring. */
  readonly activeIdCountMax?: number;
  /** The fingerprint of the active party; empty without certificates. */
  readonly boundTo?: string;
  /** Called before the first point is answered; an error ends the run. */
  readonly admit?: () => Promise<void>;
}

/** Each but the last two accepts one message only, or lasts while one is answered. */
type Phase =
  | "waiting"
  | "begun"
  | "remasking"
  | "remasked"
  | "sending masked ids"
  | "exchanged"
  | "accepting"
  | "finished"
  | "failed";

export class PassivePsi {
  readonly #ids: DistinctIds;
  readonly #options: Required<PsiOptions>;
  readonly #activeIdCountMax: number;
  readonly #pool: MaskingPool;
  readonly #admit: () => Promise<void>;
  readonly boundTo: string;
  #phase: Phase = "waiting";
  #activeIdCount = 0;
  /** order[position] = index of an id; drawn when first needed. */
  #order: Uint32Array = new Uint32Array(0);
  #done = 0;

  constructor(ids: DistinctIds, options: PassivePsiOptions = {}) {
    if (ids.ids.length > idCountMax)
      throw new TandemError("USAGE", `${ids.ids.length} ids are more than the ${idCountMax} that can be aligned`);
    this.#ids = ids;
    this.#options = settled(options);
    this.#activeIdCountMax = Math.min(options.activeIdCountMax ?? idCountMax, idCountMax);
    this.boundTo = options.boundTo ?? "";
    this.#admit = options.admit ?? (() => Promise.resolve());
    this.#pool = new MaskingPool(this.#options.threads);
  }

  /** @throws TandemError HANDSHAKE_MISMATCH if the same id would get different points at the two parties */
  begin(offer: PsiOffer): PsiAnswer {
    this.#expect("waiting");
    const ours = this.#ids.normalisations.join(", ");
    const { activeIdCount } = offer;
    if (offer.hashDomain !== hashDomain)
      throw this.#fail("HANDSHAKE_MISMATCH", `the active party hashes ids differently: expected ${hashDomain}`);
    if (offer.normalisations.join(", ") !== ours) {
      throw this.#fail(
        "HANDSHAKE_MISMATCH",
        `the active party normalises ids differently: set the same 'normalise' at both parties; here it is ` +
          `trim${ours && `, ${ours}`}`,
      );
    }
    if (!Number.isInteger(activeIdCount) || activeIdCount < 0)
      throw this.#fail("PROTOCOL_STATE", "the active party's number of ids is not valid");
    if (activeIdCount > this.#activeIdCountMax) {
      throw this.#fail(
        "PROTOCOL_STATE",
        `the active party brings ${activeIdCount} ids; at most ${this.#activeIdCountMax} are allowed`,
      );
    }
    this.#activeIdCount = activeIdCount;
    this.#phase = "begun";
    return { passiveIdCount: this.#ids.ids.length };
  }

  /** Masks the active party's masked ids once more, in the order in which they come. Once, and before maskedIds. */
  async *remask(points: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#stream("begun", "remasking", "remasked", async () => {
      await this.#admit();
      return maskedPeerPoints(points, this.#activeIdCount, "the active party", this.#pool);
    });
  }

  /** This party's masked ids in a secret order. None is sent before the active party's last point has arrived. */
  async *maskedIds(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#stream("remasked", "sending masked ids", "exchanged", async () => {
      this.#order = await randomPermutation(this.#ids.ids.length, this.#options.random);
      return maskedIds(this.#ids.ids, this.#order, this.#pool, this.boundTo);
    });
  }

  /** @returns this party's rows of the common instances, in the common order */
  async accept(commonCount: number, positions: AsyncIterable<Uint32Array>): Promise<Uint32Array> {
    this.#expect("exchanged");
    if (commonCount > this.#activeIdCount)
      throw this.#fail("PROTOCOL_STATE", "the active party names more common ids than it brought");
    this.#phase = "accepting";
    try {
      const { ids, rows } = this.#ids;
      const taken = await readPositions(positions, commonCount, ids.length);
      const common = await byAscendingId(
        ids,
        taken.map((position) => this.#order[position]),
      );
      this.#expect("accepting");
      this.#phase = "finished";
      this.#pool.close();
      return common.map((index) => rows[index]);
    } catch (failure) {
      this.close();
      throw failure;
    }
  }

  /** Fails, unless finished: stops the threads and drops the secret. */
  close(): void {
    if (this.#phase !== "finished") this.#phase = "failed";
    this.#pool.close();
  }

  /** One stream, from its first request until its last chunk is taken: the phases before, during and after it. */
  async *#stream(
    before: Phase,
    during: Phase,
    after: Phase,
    open: () => Promise<AsyncIterable<Uint8Array>>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    this.#expect(before);
    this.#phase = during;
    let isWhole = false;
    try {
      for await (const chunk of await open()) {
        this.#done += chunk.length / pointBytes;
        this.#options.onProgress(this.#done, this.#activeIdCount + this.#ids.ids.length);
        yield chunk;
      }
      this.#expect(during);
      this.#phase = after;
      isWhole = true;
    } finally {
      // Also when the reader stops early: a partial stream is never resumed.
      if (!isWhole) this.close();
    }
  }

  #expect(phase: Phase): void {
    if (this.#phase !== phase)
      throw this.#fail("PROTOCOL_STATE", `private set intersection is ${this.#phase}: this message is out of order`);
  }

  #fail(code: "HANDSHAKE_MISMATCH" | "PROTOCOL_STATE", message: string): TandemError {
    this.close();
    return new TandemError(code, message);
  }
}
