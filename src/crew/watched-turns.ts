/**
 * A worker's computations, one after the other, with a clock beside them. A process may be alive, renew its leases, and
 * yet never come to an end: a file system that hangs, a thread that waits for ever. Then others must have its blocks.
 */
import { Exclusive } from "../base/scheduling/exclusive.ts";
import type { CrewHold } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { Clock } from "./clock.ts";

/** Reading bins over a slow network, or waiting for a machine that swaps. */
const leastMs = 600_000;
/** Some ten times what a ciphertext of 2048 bits takes on one core, summed into a bin. */
const cellMs = 0.02;

/** What one turn on a block may take at the most. */
export function turnMsMax({ rowCount, binCounts }: Pick<CrewHold, "rowCount" | "binCounts">): number {
  return leastMs + rowCount * binCounts.length * cellMs;
}

/** One turn that does not end. */
export interface StuckTurn {
  readonly block: number;
  readonly forMs: number;
}

export class WatchedTurns {
  readonly #clock: Clock;
  /** The same turns without the clock: for tasks, which the party asks for again. */
  readonly unwatched = new Exclusive();
  #current: { readonly block: number; readonly sinceMs: number; readonly untilMs: number } | null = null;
  /** How many have ended: whoever sees it grow knows that the worker gets on. */
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

  /** Null where it gets on. */
  get stuck(): StuckTurn | null {
    const now = this.#clock.now();
    if (this.#current === null || now <= this.#current.untilMs) return null;
    return { block: this.#current.block, forMs: now - this.#current.sinceMs };
  }
}
