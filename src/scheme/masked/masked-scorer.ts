/**
 * The active party's side of masked scoring: a session with all passive parties of a model, and batch after batch of
 * sums. It knows no network: parties are asked through calls that are handed in with each batch, so that each has its
 * own time. A session that has expired somewhere is opened anew with everybody.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { addResidues } from "../../crypto/transfer/residues.ts";
import { checkBitmap } from "../../wire/bitmap.ts";
import type {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  MaskRowsSchema,
  PassiveMaskOpened,
  PassiveMaskStep,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { messageBytesMax, protocolVersion, requirePassiveVersion } from "../../wire/version.ts";
import { conditionsMax } from "./masked-sessions.ts";
import { type ActiveMasking, defaultMasking, type Masking } from "./masking.ts";
import type { PartyProducts, Products } from "./products.ts";

/** A passive party of the model. */
export interface MaskedPeer {
  readonly name: string;
  maskOpen(request: MessageInitShape<typeof ActiveMaskOpenSchema>): Promise<PassiveMaskOpened>;
  maskStep(request: MessageInitShape<typeof ActiveMaskStepSchema>): Promise<PassiveMaskStep>;
}

/** Who is asked about, and what the active party's own splits say of them. */
export interface MaskedRows {
  readonly rowCount: number;
  /** Bitmaps of who is known come back. */
  readonly hasIds: boolean;
  readonly message: MessageInitShape<typeof MaskRowsSchema>;
  readonly ownGoesLeft: (tree: number, node: number, row: number) => boolean;
  /** Where each row starts, of a model that was trained with such. */
  readonly baseMargins?: Float64Array | undefined;
}

export interface MaskedSums {
  /** Per row and output. */
  readonly margins: Float64Array;
  /** Per party of the session, in its order. */
  readonly known: readonly Uint8Array[];
}

interface Session {
  readonly masking: ActiveMasking;
  readonly ids: readonly Uint8Array[];
  readonly idsMax: number;
  batch: number;
}

/** A party has forgotten the session. */
class Expired extends Error {}

/** For everything in a message but what the masking counts. */
const roomBytes = 64 << 10;
/** A number of 32 bits. */
const batchMax = 2 ** 32 - 1;
/** A party that forgets again and again is not there. */
const openingsMax = 3;

export class MaskedScorer {
  readonly #products: Products;
  readonly #baseMargin: number;
  readonly #subject: { readonly model?: string; readonly startModel?: boolean };
  readonly #masking: Masking;
  readonly #sizes: ActiveMasking;
  /** One batch is worked on here while the other is worked on there. */
  readonly #lanes = [new Exclusive(), new Exclusive()];
  #turn = 0;
  #session: Promise<Session> | null = null;
  #idsMax: number | null = null;

  /** @param subject which model of the parties: by its id, or within a job */
  constructor(
    products: Products,
    baseMargin: number,
    subject: { readonly model?: string; readonly startModel?: boolean },
    masking: Masking = defaultMasking,
  ) {
    this.#products = products;
    this.#baseMargin = baseMargin;
    this.#subject = subject;
    this.#masking = masking;
    this.#sizes = masking.active(products);
  }

  /** Those that are asked, in the order of the session. */
  get parties(): readonly PartyProducts[] {
    return this.#products.parties;
  }

  /** There has been a session: what the parties take at once is known. */
  get isOpen(): boolean {
    return this.#idsMax !== null;
  }

  /** Rows that fit one batch, as far as is known. */
  get rowsMax(): number {
    const { rowBytesMax, messageExtraBytes } = this.#sizes;
    const fitting = Math.floor((messageBytesMax - roomBytes - messageExtraBytes) / rowBytesMax);
    return Math.min(fitting, this.#idsMax ?? Infinity);
  }

  /** Whether all can score. @param peers those of `parties` */
  async ready(peers: readonly MaskedPeer[]): Promise<void> {
    await this.#withSession(peers, (session) =>
      Promise.all(peers.map((_, party) => step(session, peers, party, { batch: 0 }))),
    );
  }

  /**
   * @param peers those of `parties`
   * @throws TandemError of the party that cannot answer; after PARTY_LOST the same rows may be asked for again
   */
  async sums(peers: readonly MaskedPeer[], rows: MaskedRows): Promise<MaskedSums> {
    if (peers.length === 0) {
      const { constants } = this.#products.values(rows.rowCount, rows.ownGoesLeft);
      return { margins: this.#margins(constants, rows.baseMargins), known: [] };
    }
    const lane = this.#lanes[this.#turn++ % this.#lanes.length];
    return lane.run(() => this.#withSession(peers, (session) => this.#batch(session, peers, rows)));
  }

  async #batch(session: Session, peers: readonly MaskedPeer[], rows: MaskedRows): Promise<MaskedSums> {
    const { rowCount, message, ownGoesLeft, hasIds } = rows;
    if (session.batch === batchMax) throw new Expired();
    const batch = ++session.batch;
    const { values, constants } = this.#products.values(rowCount, ownGoesLeft);
    const begun = await Promise.all(peers.map((_, party) => step(session, peers, party, { batch, rows: message })));
    if (hasIds) for (const { known } of begun) checkBitmap(known, rowCount);
    const sums = await session.masking.sums(
      batch,
      values,
      begun.map(({ scheme }) => scheme),
      async (party, scheme) => (await step(session, peers, party, { batch, scheme })).scheme,
    );
    addResidues(sums, constants, this.#products.weights.limbs);
    return { margins: this.#margins(sums, rows.baseMargins), known: begun.map(({ known }) => known) };
  }

  /** @param baseMargins of rows with one output each */
  #margins(sums: Uint32Array, baseMargins: Float64Array | undefined): Float64Array {
    const { weights } = this.#products;
    return Float64Array.from({ length: sums.length / weights.limbs }, (_, i) =>
      weights.margin(baseMargins?.[i] ?? this.#baseMargin, sums, i * weights.limbs),
    );
  }

  async #withSession<T>(peers: readonly MaskedPeer[], work: (session: Session) => Promise<T>): Promise<T> {
    for (let openings = 1; ; openings++) {
      const opening = (this.#session ??= this.#opened(peers));
      try {
        return await work(await opening);
      } catch (error) {
        if (!(error instanceof Expired)) throw error;
        if (this.#session === opening) this.#session = null;
        if (openings === openingsMax)
          throw new TandemError("PARTY_LOST", "a party forgets its session of masked scoring again and again");
      }
    }
  }

  #opened(peers: readonly MaskedPeer[]): Promise<Session> {
    const opening = this.#open(peers);
    opening.catch(() => {
      if (this.#session === opening) this.#session = null;
    });
    return opening;
  }

  async #open(peers: readonly MaskedPeer[]): Promise<Session> {
    const masking = this.#masking.active(this.#products);
    const opened = await Promise.all(peers.map((peer, party) => this.#openWith(peer, party, masking)));
    const idsMax = Math.min(...opened.map((one) => one.idsMax));
    this.#idsMax = idsMax;
    const session = { masking, ids: opened.map(({ session: id }) => id), idsMax, batch: 0 };
    await masking.setUp(
      opened.map(({ scheme }) => scheme),
      async (party, scheme) => (await step(session, peers, party, { batch: 0, scheme })).scheme,
    );
    return session;
  }

  async #openWith(peer: MaskedPeer, party: number, masking: ActiveMasking): Promise<PassiveMaskOpened> {
    const { conditions, runs, splitCount } = this.#products.parties[party];
    if (conditions.length > conditionsMax || this.rowsMax < 1)
      throw new TandemError(
        "USAGE",
        `masked scoring takes up to ${conditionsMax} splits of a party; ${peer.name} has ${conditions.length}`,
      );
    const opened = await peer.maskOpen({
      protocolVersion,
      ...this.#subject,
      masking: this.#masking.name,
      literals: conditions.flat(),
      lengths: conditions.map(({ length }) => length),
      runs: [...runs],
      scheme: masking.opening(party),
    });
    requirePassiveVersion(opened.protocolVersion, peer.name);
    if (opened.splitCount !== splitCount)
      throw new TandemError(
        "PROTOCOL_STATE",
        `party ${peer.name} answers for ${opened.splitCount} splits; our share of the model has ${splitCount} of it`,
      );
    if (opened.idsMax < 1) throw new TandemError("PROTOCOL_STATE", `party ${peer.name} answers for no id at all`);
    return opened;
  }
}

async function step(
  { ids }: Pick<Session, "ids">,
  peers: readonly MaskedPeer[],
  party: number,
  request: MessageInitShape<typeof ActiveMaskStepSchema>,
): Promise<PassiveMaskStep> {
  const answer = await peers[party].maskStep({ ...request, session: ids[party] });
  if (answer.expired) throw new Expired();
  return answer;
}
