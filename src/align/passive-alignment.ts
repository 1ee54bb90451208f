/**
 * The passive side of private set intersection by commutative masking (Meadows 1986; Huberman, Franklin, Hogg 1999) on
 * Curve25519, as a state machine that knows no network. With H an id hashed to the curve, a and b the two parties'
 * secrets, fresh for each alignment:
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
 * Parties are honest but curious. A mask hides an id as long as decisional Diffie-Hellman is hard on the curve. An
 * active party can ask about any id that it can think of, whether it holds it or not: `activeIdCountMax` bounds how
 * many.
 *
 * @reveals active: the number of ids that the party holds; which of the active party's ids the party holds too
 */
import { TandemError } from "../base/error.ts";
import {
  type AlignmentAnswer,
  type AlignmentOffer,
  type AlignmentOptions,
  idCountMax,
  settled,
} from "./alignment-peer.ts";
import { byAscendingId } from "./common-order.ts";
import { pointBytes } from "./curve25519.ts";
import { hashDomain } from "./hash-to-curve.ts";
import { MaskingPool } from "./masking-pool.ts";
import type { DistinctIds } from "./normalise.ts";
import { maskedIds, maskedPeerPoints } from "./point-chunks.ts";
import { readPositions } from "./position-set.ts";
import { secretOrder } from "./secret-order.ts";

export interface PassiveAlignmentOptions extends AlignmentOptions {
  /** How many ids the active party may bring. */
  readonly activeIdCountMax?: number;
}

/** "masking" takes the two streams, each once and in any order or at the same time. */
type Phase = "waiting" | "masking" | "accepting" | "finished" | "failed";
type StreamState = "due" | "running" | "done";

export class PassiveAlignment {
  readonly #ids: DistinctIds;
  readonly #options: Required<AlignmentOptions>;
  readonly #activeIdCountMax: number;
  readonly #pool: MaskingPool;
  readonly #streams: { remask: StreamState; maskedIds: StreamState } = { remask: "due", maskedIds: "due" };
  #phase: Phase = "waiting";
  #activeIdCount = 0;
  /** order[position] = index of an id; made when first needed. */
  #order: Uint32Array = new Uint32Array(0);
  #done = 0;

  constructor(ids: DistinctIds, options: PassiveAlignmentOptions = {}) {
    if (ids.ids.length > idCountMax)
      throw new TandemError("USAGE", `${ids.ids.length} ids are more than the ${idCountMax} that can be aligned`);
    this.#ids = ids;
    this.#options = settled(options);
    this.#activeIdCountMax = Math.min(options.activeIdCountMax ?? idCountMax, idCountMax);
    this.#pool = new MaskingPool(this.#options.threads);
  }

  /** @throws TandemError HANDSHAKE_MISMATCH if the same person would get different points at the two parties */
  begin(offer: AlignmentOffer): AlignmentAnswer {
    this.#expect("waiting");
    const ours = this.#ids.normalisations.join(", ");
    const { activeIdCount } = offer;
    if (offer.hashDomain !== hashDomain)
      throw this.#fail("HANDSHAKE_MISMATCH", `the active party hashes ids otherwise than by ${hashDomain}`);
    if (offer.normalisations.join(", ") !== ours) {
      throw this.#fail(
        "HANDSHAKE_MISMATCH",
        `the active party normalises ids in another way; here it is: trim${ours && `, ${ours}`}`,
      );
    }
    if (!Number.isInteger(activeIdCount) || activeIdCount < 0)
      throw this.#fail("PROTOCOL_STATE", "the active party's number of ids is not a number");
    if (activeIdCount > this.#activeIdCountMax) {
      throw this.#fail(
        "PROTOCOL_STATE",
        `the active party brings ${activeIdCount} ids; at most ${this.#activeIdCountMax} are allowed`,
      );
    }
    this.#activeIdCount = activeIdCount;
    this.#phase = "masking";
    return { passiveIdCount: this.#ids.ids.length };
  }

  /** Masks the active party's masked ids once more, in the order in which they come. */
  async *remask(points: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#stream("remask", () => maskedPeerPoints(points, this.#activeIdCount, "the active party", this.#pool));
  }

  /** This party's masked ids in a secret order. */
  async *maskedIds(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#stream("maskedIds", async () => {
      this.#order = await secretOrder(this.#ids.ids.length, this.#options.random);
      return maskedIds(this.#ids.ids, this.#order, this.#pool);
    });
  }

  /** @returns this party's rows of the common instances, in the common order */
  async accept(commonCount: number, positions: AsyncIterable<Uint32Array>): Promise<Uint32Array> {
    this.#expect("masking");
    const { remask, maskedIds } = this.#streams;
    if (remask !== "done" || maskedIds !== "done")
      throw this.#fail("PROTOCOL_STATE", "the active party names the common set before all masks were exchanged");
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

  /** Gives up, unless finished: stops the threads and forgets the secret. */
  close(): void {
    if (this.#phase !== "finished") this.#phase = "failed";
    this.#pool.close();
  }

  async *#stream(
    name: "remask" | "maskedIds",
    open: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    this.#expect("masking");
    if (this.#streams[name] !== "due")
      throw this.#fail("PROTOCOL_STATE", "the active party asks for the same masks twice");
    this.#streams[name] = "running";
    try {
      for await (const chunk of await open()) {
        this.#done += chunk.length / pointBytes;
        this.#options.onProgress(this.#done, this.#activeIdCount + this.#ids.ids.length);
        yield chunk;
      }
      this.#expect("masking");
      this.#streams[name] = "done";
    } finally {
      // Also when the reader stops early: half a stream is never continued.
      if (this.#streams[name] !== "done") this.close();
    }
  }

  #expect(phase: Phase): void {
    if (this.#phase !== phase)
      throw this.#fail("PROTOCOL_STATE", `the alignment is ${this.#phase} and cannot take this message now`);
  }

  #fail(code: "HANDSHAKE_MISMATCH" | "PROTOCOL_STATE", message: string): TandemError {
    this.close();
    return new TandemError(code, message);
  }
}
