/**
 * What a passive party's log says about scoring: who asked, how often, about how many ids. Requests come by the
 * thousand, so answers are summed up once a minute, and the same complaint is made once a minute.
 */
import { TandemError } from "../base/error.ts";
import type { Emit, PartyEvent } from "../record/events.ts";

const intervalMs = 60_000;
/** Complaints that are remembered; a peer that finds new words for each is forgotten in order. */
const complaintsMax = 100;

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
  readonly #saidAt = new Map<string, number>();
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
    if (this.#now() - this.#summedAt >= intervalMs) this.#sayAll();
  }

  refused(peer: string, error: unknown): void {
    const known = knownError(error);
    this.say({ type: "refused", party: this.#party, peer, code: known.code, message: known.message });
  }

  trouble(error: unknown): void {
    const known = knownError(error);
    this.say({ type: "error", party: this.#party, code: known.code, message: known.message });
  }

  /** Says it, unless it was said within the last minute. */
  say(event: PartyEvent): void {
    const key = JSON.stringify(event);
    const saidAt = this.#saidAt.get(key);
    if (saidAt !== undefined && this.#now() - saidAt < intervalMs) return;
    this.#saidAt.delete(key);
    this.#saidAt.set(key, this.#now());
    if (this.#saidAt.size > complaintsMax)
      for (const oldest of [...this.#saidAt.keys()].slice(0, 1)) this.#saidAt.delete(oldest);
    this.#emit(event);
  }

  close(): void {
    this.#sayAll();
  }

  #sayAll(): void {
    for (const { answered, ...counts } of this.#sums.values())
      this.#emit({ type: "scored", party: this.#party, ...answered, ...counts });
    this.#sums.clear();
    this.#summedAt = this.#now();
  }
}

function knownError(error: unknown): TandemError {
  return error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
}
