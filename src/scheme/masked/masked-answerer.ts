/**
 * The only passive side of masked scoring: it answers the steps of sessions, within a job and after it. It holds their
 * conditions and batches under way, bounded and in memory. Which splits and rows there are, and who may ask about them,
 * is decided by the MaskedModel behind it.
 *
 * @reveals active: where scoring is masked, the score of every person asked about, and no outcome of a split
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { SingleUse } from "../../crypto/transfer/iknp-ot.ts";
import { unpackedBits } from "../../wire/bitmap.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  MaskRows,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import { maskingNamed, type PassiveMasking, type PendingSums } from "./masking.ts";

/** Of one caller, for its models and processes. */
const sessionsMax = 16;
/**
 * Of one caller. The session used last stays in any case: it has at most 37 MB of conditions, and as many batches under
 * way as fit.
 */
export const sessionsBytesMax = 64 << 20;
/** Memory of a condition besides its literals, and of a batch under way per row and condition: bits. */
const conditionBytes = 128;
const pendingBytes = 1;
/** Of a batch under way, per byte of its message: the matrix, and shares, which are as large or smaller. */
const pendingShares = 2;
/** Of one session: the active party has two under way, and may lose some. */
const batchesMax = 4;
/** The matrix of one row must fit a message. */
export const conditionsMax = 1 << 17;
const literalsMax = 1 << 20;
const runsMax = 1 << 12;
const sessionBytes = 16;

/** The outcomes of all splits of the model, split by split in the order of (tree, node). */
export interface RowOutcomes {
  readonly rowCount: number;
  /** As in scoring.proto: bitmap over pairs of split and row, 1 goes left. */
  readonly left: Uint8Array;
  /** Bitmap of the ids that the party holds; empty where rows are not named by ids. */
  readonly known: Uint8Array;
}

/** A passive party's splits and rows, as one session asks about them. */
export interface MaskedModel {
  readonly splitCount: number;
  /** The most rows of one batch. */
  readonly idsMax: number;
  /** The most outputs of the model. */
  readonly outputsMax: number;
  /** Deviation of the noise in scores; 0: none. */
  readonly scoreNoise: number;
  /** Before every step: whether the session may still be asked. @throws TandemError */
  admit(): Promise<void>;
  /** Whether the party can score now; within a job it can. @throws TandemError */
  checkReady?(): Promise<void>;
  /** How many rows are asked about. @throws TandemError for rows that may not be asked about */
  rowCount(rows: MaskRows): number;
  /** Charges the rows to the caller's budgets, then computes their outcomes. @throws TandemError if it may not */
  outcomes(rows: MaskRows): Promise<RowOutcomes>;
  /** The sums of a batch leave the party: for the ledger of a job. */
  finished?(rowCount: number, sums: Uint8Array): void;
}

export class MaskedAnswerer<Model extends MaskedModel = MaskedModel> {
  /** Steps run one after the other: a caller that requests many at once does not multiply their memory. */
  turns = new Exclusive();
  readonly id: Uint8Array = osRandom.fill(new Uint8Array(sessionBytes));
  readonly model: Model;
  readonly #conditions: readonly Uint32Array[];
  readonly #conditionsBytes: number;
  readonly #masking: PassiveMasking;
  readonly #batches = new SingleUse();
  readonly #pending = new Map<number, { readonly sums: PendingSums; readonly rowCount: number }>();

  /** @throws TandemError PROTOCOL_STATE if the conditions are not about the model's splits */
  constructor(request: ActiveMaskOpen, model: Model) {
    this.model = model;
    this.#conditions = readConditions(request, model.splitCount);
    // Places of conditions are varints of the opening, and four bytes each in memory.
    const placesBytes = 4 * request.scheme.length;
    this.#conditionsBytes = 4 * request.literals.length + conditionBytes * this.#conditions.length + placesBytes;
    const { runs } = request;
    if (runs.length > runsMax || runs.reduce((sum, run) => sum + run, 0) !== this.#conditions.length)
      throw new TandemError("PROTOCOL_STATE", "runs do not add up to the number of conditions");
    this.#masking = maskingNamed(request.masking).passive(request.scheme, {
      conditionCount: this.#conditions.length,
      runs,
      outputsMax: model.outputsMax,
      scoreNoise: model.scoreNoise,
    });
  }

  /** The answer to the request that opened the session. */
  get opened(): MessageInitShape<typeof PassiveMaskOpenedSchema> {
    const { splitCount, idsMax } = this.model;
    return { protocolVersion, session: this.id, splitCount, idsMax, scheme: this.#masking.opening };
  }

  /** Memory in use, about: conditions, and batches under way. */
  get sizeBytes(): number {
    let sizeBytes = this.#conditionsBytes;
    for (const { sums, rowCount } of this.#pending.values())
      sizeBytes += pendingShares * sums.message.length + rowCount * this.#conditions.length * pendingBytes;
    return sizeBytes;
  }

  /** Batch 0 sets the session up; every other batch is begun with its rows, then finished. */
  step(request: ActiveMaskStep): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    return this.turns.run(() => this.#step(request));
  }

  async #step({ batch, rows, scheme }: ActiveMaskStep): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    await this.model.admit();
    if (batch === 0) return { scheme: await this.#setUp(scheme) };
    return rows === undefined ? { scheme: await this.#finish(batch, scheme) } : this.#begin(batch, rows);
  }

  /** Without a message it is only asked whether this party can score. */
  async #setUp(message: Uint8Array): Promise<Uint8Array> {
    if (message.length > 0) return this.#masking.setUp(message);
    await this.model.checkReady?.();
    return message;
  }

  /** Nothing is charged for a batch that is refused: its size, number and rows are checked first. */
  async #begin(batch: number, rows: MaskRows): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    const rowCount = this.model.rowCount(rows);
    this.#masking.checkRows(rowCount);
    this.#batches.take(batch);
    const outcomes = await this.model.outcomes(rows);
    const sums = await this.#masking.begin(batch, conditionBits(this.#conditions, outcomes));
    this.#pending.set(batch, { sums, rowCount });
    for (const oldest of [...this.#pending.keys()].slice(0, -1))
      if (this.#pending.size > batchesMax || this.sizeBytes > sessionsBytesMax) this.#pending.delete(oldest);
    return { known: outcomes.known, scheme: sums.message };
  }

  async #finish(batch: number, message: Uint8Array): Promise<Uint8Array> {
    const pending = this.#pending.get(batch);
    if (pending === undefined) throw new TandemError("PROTOCOL_STATE", "this batch of masked scoring is not under way");
    this.#pending.delete(batch);
    const sums = await pending.sums.finish(message);
    this.model.finished?.(pending.rowCount, sums);
    return sums;
  }
}

/** A party's sessions by caller; the one used longest ago makes room. */
export class MaskedSessions<Model extends MaskedModel = MaskedModel> {
  readonly #callers = new Map<string, Map<string, MaskedAnswerer<Model>>>();
  readonly #turns = new Map<string, Exclusive>();
  readonly #bytesMax: number;

  constructor(bytesMax = sessionsBytesMax) {
    this.#bytesMax = bytesMax;
  }

  add(caller: string, session: MaskedAnswerer<Model>): void {
    const sessions = this.#callers.get(caller) ?? new Map<string, MaskedAnswerer<Model>>();
    this.#callers.set(caller, sessions);
    session.turns = this.#turns.get(caller) ?? session.turns;
    this.#turns.set(caller, session.turns);
    sessions.set(toKey(session.id), session);
    for (const oldest of [...sessions.keys()].slice(0, -sessionsMax)) sessions.delete(oldest);
    this.#makeRoom(sessions);
  }

  /** @returns null if there is no such session, or it is another caller's: the active party then opens a new one */
  find(caller: string, { session: id }: Pick<ActiveMaskStep, "session">): MaskedAnswerer<Model> | null {
    const sessions = this.#callers.get(caller);
    const session = sessions?.get(toKey(id));
    if (sessions === undefined || session === undefined) return null;
    sessions.delete(toKey(id)); // used last: at the end of the order
    sessions.set(toKey(id), session);
    this.#makeRoom(sessions);
    return session;
  }

  #makeRoom(sessions: Map<string, MaskedAnswerer<Model>>): void {
    let sizeBytes = 0;
    for (const [i, [key, session]] of [...sessions].toReversed().entries()) {
      sizeBytes += session.sizeBytes;
      if (i > 0 && sizeBytes > this.#bytesMax) sessions.delete(key);
    }
  }
}

function toKey(id: Uint8Array): string {
  return Buffer.from(id).toString("hex");
}

/** Per condition and row whether all of its literals hold. */
function conditionBits(conditions: readonly Uint32Array[], { rowCount, left }: RowOutcomes): Uint8Array {
  const outcomes = unpackedBits(left);
  const bits = new Uint8Array(conditions.length * rowCount).fill(1);
  let at = 0;
  for (const literals of conditions) {
    for (const literal of literals) {
      const from = (literal >>> 1) * rowCount;
      const flip = (literal & 1) ^ 1;
      for (let row = 0; row < rowCount; row++) bits[at + row] &= outcomes[from + row] ^ flip;
    }
    at += rowCount;
  }
  return bits;
}

function readConditions({ literals, lengths }: ActiveMaskOpen, splitCount: number): Uint32Array[] {
  if (lengths.length === 0 || lengths.length > conditionsMax || literals.length > literalsMax)
    throw new TandemError("PROTOCOL_STATE", `${lengths.length} conditions; from 1 to ${conditionsMax} are allowed`);
  let at = 0;
  const conditions = lengths.map((length) => Uint32Array.from(literals.slice(at, (at += length))));
  const areWhole = at === literals.length && lengths.every((length) => length > 0);
  if (!areWhole || literals.some((literal) => literal >>> 1 >= splitCount))
    throw new TandemError("PROTOCOL_STATE", "conditions on splits that this party does not have");
  return conditions;
}
