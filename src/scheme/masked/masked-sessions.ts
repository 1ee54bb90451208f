/**
 * A passive party's sessions of masked scoring: whom each belongs to, its conditions and its batches under way. All in
 * memory and bounded; the oldest makes room. What a session may be asked, and about whom, is decided by whoever holds
 * the splits and the rows.
 */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { SingleUse } from "../../crypto/transfer/extension.ts";
import { isSet } from "../../wire/bitmap.ts";
import type { ActiveMaskOpen, ActiveMaskStep, MaskRows } from "../../wire/generated/tandem/v1/masked_pb.ts";
import { maskingNamed, type PassiveMasking, type PendingSums } from "./masking.ts";

/** Of one caller: for so many models and processes at once. */
const sessionsMax = 16;
/** Of one caller, as far as it decides what they take. The newest one stays in any case. */
const sessionsBytesMax = 64 << 20;
/** What a condition takes beside its literals, and what a batch under way takes per row and condition: bits, shares. */
const conditionBytes = 128;
const pendingBytes = 1;
/** Of one session: the active party has two under way, and may lose some. */
const batchesMax = 4;
/** One person's matrix must fit a message. */
export const conditionsMax = 1 << 17;
const literalsMax = 1 << 20;
const runsMax = 1 << 12;
const sessionBytes = 16;

/** Outcomes of all splits that conditions are about, split by split. */
export interface RowOutcomes {
  readonly rowCount: number;
  /** As in scoring.proto: bitmap over pairs of split and row, 1 goes left. */
  readonly left: Uint8Array;
  readonly known: Uint8Array;
}

export class MaskedSession {
  readonly id: Uint8Array = osRandom.fill(new Uint8Array(sessionBytes));
  /** What was opened: the model, or which of a job's. */
  readonly subject: string;
  readonly splitCount: number;
  readonly opening: Uint8Array;
  readonly #conditions: readonly Uint32Array[];
  readonly #conditionsBytes: number;
  readonly #masking: PassiveMasking;
  readonly #batches = new SingleUse();
  readonly #pending = new Map<number, { readonly sums: PendingSums; readonly rowCount: number }>();

  /** What it takes in memory, about: conditions, and batches under way. */
  get sizeBytes(): number {
    let sizeBytes = this.#conditionsBytes;
    for (const { sums, rowCount } of this.#pending.values())
      sizeBytes += sums.message.length + rowCount * this.#conditions.length * pendingBytes;
    return sizeBytes;
  }

  /** @throws TandemError PROTOCOL_STATE if the conditions are not about these splits */
  constructor(request: ActiveMaskOpen, subject: string, splitCount: number) {
    this.subject = subject;
    this.splitCount = splitCount;
    this.#conditions = conditionsOf(request, splitCount);
    this.#conditionsBytes = 4 * request.literals.length + conditionBytes * this.#conditions.length;
    const { runs } = request;
    if (runs.length > runsMax || runs.reduce((sum, run) => sum + run, 0) !== this.#conditions.length)
      throw new TandemError("PROTOCOL_STATE", "runs that are not those of the conditions");
    this.#masking = maskingNamed(request.masking).passive(request.scheme, {
      conditionCount: this.#conditions.length,
      runs,
    });
    this.opening = this.#masking.opening;
  }

  /** Without a message it is only asked whether there is such a session. */
  async setUp(message: Uint8Array): Promise<Uint8Array> {
    return message.length === 0 ? message : this.#masking.setUp(message);
  }

  /** @throws TandemError PROTOCOL_STATE if the batch is not new, or too large */
  async begin(
    batch: number,
    rowCount: number,
    outcomes: () => Promise<RowOutcomes>,
  ): Promise<[Uint8Array, RowOutcomes]> {
    this.#masking.checkRows(rowCount);
    this.#batches.take(batch);
    const found = await outcomes();
    const sums = await this.#masking.begin(batch, bitsOf(this.#conditions, found));
    this.#pending.set(batch, { sums, rowCount });
    for (const oldest of [...this.#pending.keys()].slice(0, -batchesMax)) this.#pending.delete(oldest);
    return [sums.message, found];
  }

  /** The sums, and of how many rows. @throws TandemError PROTOCOL_STATE if the batch is not under way */
  async finish(batch: number, message: Uint8Array): Promise<[sums: Uint8Array, rowCount: number]> {
    const pending = this.#pending.get(batch);
    if (pending === undefined) throw new TandemError("PROTOCOL_STATE", "a batch that is not under way");
    this.#pending.delete(batch);
    return [await pending.sums.finish(message), pending.rowCount];
  }
}

/** Per condition and row whether all of its literals hold. */
function bitsOf(conditions: readonly Uint32Array[], { rowCount, left }: RowOutcomes): Uint8Array {
  const bits = new Uint8Array(conditions.length * rowCount);
  let at = 0;
  for (const literals of conditions) {
    for (let row = 0; row < rowCount; row++, at++) {
      let holds = 1;
      for (const literal of literals)
        if (isSet(left, (literal >>> 1) * rowCount + row) !== ((literal & 1) === 1)) holds = 0;
      bits[at] = holds;
    }
  }
  return bits;
}

function conditionsOf({ literals, lengths }: ActiveMaskOpen, splitCount: number): Uint32Array[] {
  if (lengths.length === 0 || lengths.length > conditionsMax || literals.length > literalsMax)
    throw new TandemError("PROTOCOL_STATE", `${lengths.length} conditions; from 1 to ${conditionsMax} are taken`);
  let at = 0;
  const conditions = lengths.map((length) => Uint32Array.from(literals.slice(at, (at += length))));
  const areWhole = at === literals.length && lengths.every((length) => length > 0);
  if (!areWhole || literals.some((literal) => literal >>> 1 >= splitCount))
    throw new TandemError("PROTOCOL_STATE", "conditions on splits that this party does not have");
  return conditions;
}

/** Sessions by caller. */
export class MaskedSessions {
  readonly #callers = new Map<string, Map<string, MaskedSession>>();
  readonly #bytesMax: number;

  constructor(bytesMax = sessionsBytesMax) {
    this.#bytesMax = bytesMax;
  }

  add(caller: string, session: MaskedSession): void {
    const sessions = this.#callers.get(caller) ?? new Map<string, MaskedSession>();
    this.#callers.set(caller, sessions);
    sessions.set(keyOf(session.id), session);
    for (const oldest of [...sessions.keys()].slice(0, -sessionsMax)) sessions.delete(oldest);
    this.#makeRoom(sessions);
  }

  /** @returns null if there is none, or it is another's */
  find(caller: string, { session: id }: Pick<ActiveMaskStep, "session">): MaskedSession | null {
    const sessions = this.#callers.get(caller);
    const session = sessions?.get(keyOf(id));
    if (sessions === undefined || session === undefined) return null;
    sessions.delete(keyOf(id)); // the one used last is the last to go
    sessions.set(keyOf(id), session);
    this.#makeRoom(sessions);
    return session;
  }

  /** The oldest go, but never the one that was used last. */
  #makeRoom(sessions: Map<string, MaskedSession>): void {
    let sizeBytes = 0;
    for (const [i, [key, session]] of [...sessions].toReversed().entries()) {
      sizeBytes += session.sizeBytes;
      if (i > 0 && sizeBytes > this.#bytesMax) sessions.delete(key);
    }
  }
}

function keyOf(id: Uint8Array): string {
  return Buffer.from(id).toString("hex");
}

/** What a step asks for. */
export type MaskedStep =
  | { readonly kind: "set-up" }
  | { readonly kind: "begin"; readonly rows: MaskRows }
  | { readonly kind: "finish" };

export function stepOf({ batch, rows }: ActiveMaskStep): MaskedStep {
  if (batch === 0) return { kind: "set-up" };
  return rows === undefined ? { kind: "finish" } : { kind: "begin", rows };
}
