/**
 * A worker's computations, one after the other, with a time limit. A process may be alive and renew its leases, and yet
 * make no progress: a file system that hangs, a thread in deadlock. Then other workers must get its blocks.
 */
import { Exclusive } from "../base/scheduling/exclusive.ts";
import type { CrewHold } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { Clock } from "./clock.ts";

/** Time to read bins over a slow network, or on a machine that swaps. */
const leastMs = 600_000;
/** About ten times the time to add a ciphertext of 2048 bits to a bin on one core. */
const cellMs = 0.02;

/** The time limit of one computation on a block. */
export function turnMsMax({ rowCount, binCounts }: Pick<CrewHold, "rowCount" | "binCounts">): number {
  return leastMs + rowCount * binCounts.length * cellMs;
}

/** A computation that exceeds its limit. */
export interface StuckTurn {
  readonly block: number;
  readonly forMs: number;
}

export class WatchedTurns {
  readonly #clock: Clock;
  /** The same queue without the time limit: for tasks, which the party offers again. */
  readonly unwatched = new Exclusive();
  #current: { readonly block: number; readonly sinceMs: number; readonly untilMs: number } | null = null;
  /** The number of finished computations, by which the party sees progress. */
  ended = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  run<T>(hold: CrewHold, work: () => T | Promise<T>): Promise<T> {
    return this.unwatched.run(async () => {
      const sinceMs = this.#clock.now();
      this.#current = { block: hold.block, sinceMs, untilMs: sinceMs + turnMsMax(hold) };
      try {
        return await work();
      } finally {
        this.#current = null;
        this.ended++;
      }
    });
  }

  /** Null if no computation is overdue. */
  get stuck(): StuckTurn | null {
    const now = this.#clock.now();
    if (this.#current === null || now <= this.#current.untilMs) return null;
    return { block: this.#current.block, forMs: now - this.#current.sinceMs };
  }
}
