/**
 * The only active side of masked scoring: `predict`, `serve`, the test rows at a job's end and the margins of a start
 * model are all computed here. A driver keeps one session with the passive parties of a model and asks about rows batch
 * by batch. It knows no network: each batch is asked through peers that the caller hands in, with their own deadlines
 * and retries. When a party has lost the session, it is opened anew with all parties.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { fewAtOnce } from "../../base/scheduling/few-at-once.ts";
import { addResidues } from "../../crypto/transfer/residues.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import type { MaskRowsSchema } from "../../wire/generated/tandem/v1/masked_pb.ts";
import { messageBytesMax } from "../../wire/version.ts";
import { MaskChannel, type MaskedPeer, type MaskedSubject, openSession, SessionExpired } from "./mask-channel.ts";
import { type ActiveMasking, defaultMasking } from "./masking.ts";
import { type OwnedTree, type PartyProducts, type ProductModel, Products } from "./products.ts";
import type { WriteOutcomes } from "./tree-values.ts";

/**
 * Asks the parties of the session, in its order, about `rowCount` rows. A job asks once; a scorer retries until its
 * time is up.
 */
export type AskParties = <T>(rowCount: number, question: (peers: readonly MaskedPeer[]) => Promise<T>) => Promise<T>;

/** The rows to score, and the outcomes of the active party's own splits for them. */
export interface MaskedQuestion {
  readonly rowCount: number;
  /** Rows are named by ids: answers then have bitmaps of the ids that the party holds. */
  readonly hasIds: boolean;
  /** The end of a batch that begins at row `first` and has at most `rowsMax` rows. */
  readonly batchEnd: (first: number, rowsMax: number) => number;
  /** Rows `first` to `end`, as passive parties are asked about them. */
  readonly message: (first: number, end: number) => MessageInitShape<typeof MaskRowsSchema>;
  readonly ownOutcomes: WriteOutcomes;
  /** Per row, of a model that was trained with base margins. */
  readonly baseMargins?: Float64Array | undefined;
}

export interface MaskedScores {
  /** Per row and output. */
  readonly margins: Float64Array;
  /** Per party of the session: the rows whose ids it does not hold, in no order. */
  readonly unknown: readonly (readonly number[])[];
}

interface Session {
  readonly masking: ActiveMasking;
  readonly ids: readonly Uint8Array[];
  batch: number;
}

/** Room in a message for everything that the masking does not count. */
const headerBytes = 64 << 10;
/** Batch numbers have 32 bits. */
const batchMax = 2 ** 32 - 1;
const openingsMax = 3;
/** While one batch is computed here, the other is computed by a passive party. */
export const batchesAtOnce = 2;

export class MaskedDriver {
  readonly #products: Products;
  readonly #baseMargin: number;
  readonly #subject: MaskedSubject;
  readonly #sizes: ActiveMasking;
  /** Bound the batches under way over all concurrent questions. */
  readonly #lanes = Array.from({ length: batchesAtOnce }, () => new Exclusive());
  #nextLane = 0;
  #session: Promise<Session> | null = null;
  /** The most rows that every party answers at once; known after the first session is opened. */
  #idsMax: number | null = null;

  /** @param answered trees that passive parties count their splits in: after early stopping more than the model's */
  constructor(
    model: ProductModel & { readonly baseMargin: number },
    subject: MaskedSubject,
    answered: readonly OwnedTree[] = model.trees,
  ) {
    this.#products = new Products(model, answered);
    this.#baseMargin = model.baseMargin;
    this.#subject = subject;
    this.#sizes = defaultMasking.active(this.#products);
  }

  /** The parties with a condition, in the order of the session. */
  get parties(): readonly PartyProducts[] {
    return this.#products.parties;
  }

  /** Checks that all parties can score. */
  async ready(ask: AskParties): Promise<void> {
    if (this.parties.length === 0) return;
    await ask(0, (peers) =>
      this.#withSession(peers, async (session) => {
        await Promise.all(channels(session, peers, 0).map((channel) => channel.ping()));
      }),
    );
  }

  /**
   * @throws TandemError of the party that cannot answer; after PARTY_LOST the same rows may be asked about again
   */
  async score(question: MaskedQuestion, ask: AskParties): Promise<MaskedScores> {
    const { rowCount, batchEnd } = question;
    const { weights, rowWords } = this.#products;
    const outputCount = rowWords / weights.limbs;
    const scores = { margins: new Float64Array(rowCount * outputCount), unknown: this.parties.map((): number[] => []) };
    if (this.#idsMax === null && this.parties.length > 0)
      await ask(0, (peers) => this.#withSession(peers, () => Promise.resolve()));
    const rowsMax = (): number => Math.max(1, this.#rowsMax); // a session opened anew may have another limit
    function* batches(): Generator<[first: number, end: number]> {
      for (let first = 0, end = 0; first < rowCount; first = end) {
        end = batchEnd(first, rowsMax());
        yield [first, end];
      }
    }
    await fewAtOnce(batches(), batchesAtOnce, async ([first, end]) => {
      const { sums, known } = await this.#sums(question, first, end, ask);
      for (let i = 0; i < (end - first) * outputCount; i++) {
        const at = first * outputCount + i;
        const base = question.baseMargins?.[at] ?? this.#baseMargin;
        scores.margins[at] = weights.margin(base, sums, i * weights.limbs);
      }
      known.forEach((bitmap, party) => {
        for (let row = first; row < end; row++) if (!isSet(bitmap, row - first)) scores.unknown[party].push(row);
      });
    });
    return scores;
  }

  /** Rows that fit one batch, as far as the parties' limits are known. */
  get #rowsMax(): number {
    const { rowBytesMax, messageExtraBytes } = this.#sizes;
    const fitting = Math.floor((messageBytesMax - headerBytes - messageExtraBytes) / rowBytesMax);
    return Math.min(fitting, this.#idsMax ?? Infinity);
  }

  /** Sums of the leaf weights of rows `first` to `end`, as residues; per party, the ids that it holds. */
  async #sums(
    question: MaskedQuestion,
    first: number,
    end: number,
    ask: AskParties,
  ): Promise<{ readonly sums: Uint32Array; readonly known: readonly Uint8Array[] }> {
    const rowCount = end - first;
    const own: WriteOutcomes = (tree, node, from, target) => question.ownOutcomes(tree, node, first + from, target);
    if (this.parties.length === 0) return { sums: this.#products.values(rowCount, own).constants, known: [] };
    return ask(rowCount, (peers) =>
      this.#lanes[this.#nextLane++ % batchesAtOnce].run(() =>
        this.#withSession(peers, async (session) => {
          if (session.batch === batchMax) throw new SessionExpired();
          const batch = ++session.batch;
          const parties = channels(session, peers, batch);
          const { values, constants } = this.#products.values(rowCount, own);
          const message = question.message(first, end);
          const begun = await Promise.all(parties.map((channel) => channel.begin(message)));
          if (question.hasIds) for (const { known } of begun) checkBitmap(known, rowCount);
          const answers = begun.map(({ scheme }) => scheme);
          const sums = await session.masking.sums(batch, values, answers, parties);
          addResidues(sums, constants, this.#products.weights.limbs);
          return { sums, known: question.hasIds ? begun.map(({ known }) => known) : [] };
        }),
      ),
    );
  }

  async #withSession<T>(peers: readonly MaskedPeer[], work: (session: Session) => Promise<T>): Promise<T> {
    for (let openings = 1; ; openings++) {
      const opening = (this.#session ??= this.#opened(peers));
      try {
        return await work(await opening);
      } catch (error) {
        const isLost = error instanceof SessionExpired;
        const isBroken = error instanceof TandemError && error.code === "PROTOCOL_STATE"; // a failed check closes it
        if ((isLost || isBroken) && this.#session === opening) this.#session = null;
        if (!isLost) throw error;
        if (openings === openingsMax)
          throw new TandemError("PARTY_LOST", `a party lost its session of masked scoring ${openingsMax} times`);
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
    const masking = defaultMasking.active(this.#products);
    const opened = await Promise.all(
      peers.map((peer, party) =>
        openSession(peer, this.#subject, this.parties[party], {
          masking: defaultMasking.name,
          scheme: masking.opening(party),
          fitsOneMessage: this.#rowsMax >= 1,
        }),
      ),
    );
    this.#idsMax = Math.min(...opened.map(({ idsMax }) => idsMax));
    const session = { masking, ids: opened.map(({ session: id }) => id), batch: 0 };
    await masking.setUp(
      opened.map(({ scheme }) => scheme),
      channels(session, peers, 0),
    );
    return session;
  }
}

function channels({ ids }: Pick<Session, "ids">, peers: readonly MaskedPeer[], batch: number): MaskChannel[] {
  return peers.map((peer, party) => new MaskChannel(peer, ids[party], batch));
}
