/**
 * A passive party's rate-limited log of scoring: who asked, how often, about how many ids. Answers are summed up once a
 * minute, and the same message is logged once a minute.
 */
import { TandemError } from "../base/error.ts";
import type { Emit, PartyEvent } from "../record/events.ts";

const intervalMs = 60_000;
/** Messages that are remembered; the oldest makes room. */
const messagesMax = 100;

export interface Answered {
  readonly peer: string;
  readonly job: string;
  readonly model: string;
  readonly idCount: number;
  readonly unknownCount: number;
}

interface Sum {
  readonly answered: Omit<Answered, "idCount" | "unknownCount">;
  requestCount: number;
  idCount: number;
  unknownCount: number;
}

export class ScoringMeter {
  readonly #party: string;
  readonly #emit: Emit;
  readonly #now: () => number;
  readonly #sums = new Map<string, Sum>();
  readonly #loggedAt = new Map<string, number>();
  #summedAt = Number.NEGATIVE_INFINITY;

  constructor(party: string, emit: Emit, now: () => number = () => performance.now()) {
    this.#party = party;
    this.#emit = emit;
    this.#now = now;
  }

  answered({ idCount, unknownCount, ...answered }: Answered): void {
    const key = `${answered.peer}\n${answered.model}`;
    const sum = this.#sums.get(key) ?? { answered, requestCount: 0, idCount: 0, unknownCount: 0 };
    sum.requestCount++;
    sum.idCount += idCount;
    sum.unknownCount += unknownCount;
    this.#sums.set(key, sum);
    if (this.#now() - this.#summedAt >= intervalMs) this.#logSums();
  }

  refused(peer: string, error: unknown): void {
    const known = knownError(error);
    this.log({ type: "refused", party: this.#party, peer, code: known.code, message: known.message });
  }

  trouble(error: unknown): void {
    const known = knownError(error);
    this.log({ type: "error", party: this.#party, code: known.code, message: known.message });
  }

  /** Logs an event, unless it was logged within the last minute. */
  log(event: PartyEvent): void {
    const key = JSON.stringify(event);
    const loggedAt = this.#loggedAt.get(key);
    if (loggedAt !== undefined && this.#now() - loggedAt < intervalMs) return;
    this.#loggedAt.delete(key);
    this.#loggedAt.set(key, this.#now());
    if (this.#loggedAt.size > messagesMax)
      for (const oldest of [...this.#loggedAt.keys()].slice(0, 1)) this.#loggedAt.delete(oldest);
    this.#emit(event);
  }

  close(): void {
    this.#logSums();
  }

  #logSums(): void {
    for (const { answered, ...counts } of this.#sums.values())
      this.#emit({ type: "scored", party: this.#party, ...answered, ...counts });
    this.#sums.clear();
    this.#summedAt = this.#now();
  }
}

function knownError(error: unknown): TandemError {
  return error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
}
