/**
 * The parts of a block's log with their payloads: from the log itself, over the line, or, where that fails, from the
 * engine. The engine's copy arrives later in the log, under the same number.
 */
import type { CrewEntry } from "../../wire/generated/tandem/v1/crew_pb.ts";
import type { BlockLog } from "../block-log.ts";
import { type Clock, every } from "../clock.ts";
import type { Line } from "./line.ts";

export interface FetchedPartsOptions {
  readonly block: number;
  readonly log: BlockLog;
  /** Null: the worker has none in this attempt. */
  readonly line: Line | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asks the party to send this part, and all later ones of the round, to the engine; may be lost. */
  readonly ask: (part: Numbered) => void;
}

type Numbered = Pick<CrewEntry, "round" | "sequence">;

const againMs = 1000;

export class FetchedParts {
  readonly #options: FetchedPartsOptions;
  /** The first part that was asked for and has not arrived. */
  #asked: Numbered | null = null;

  constructor(options: FetchedPartsOptions) {
    this.#options = options;
    const { clock, signal, log, ask } = options;
    every(clock, againMs, signal, () => {
      if (this.#asked === null) return;
      if (log.misses(this.#asked)) ask(this.#asked);
      else this.#asked = null;
    });
  }

  /** @returns null if the part was taken before, or if the engine will bring it */
  async whole(part: CrewEntry): Promise<CrewEntry | null> {
    const { block, log, line, signal } = this.#options;
    if (part.digest.length === 0) return part;
    if (!log.misses(part)) return null;
    const payload = line === null ? null : await line.fetch(block, part);
    if (payload !== null) return { ...part, payload };
    if (!signal.aborted && log.misses(part)) this.#ask(part);
    return null;
  }

  #ask({ round, sequence }: Numbered): void {
    const asked = this.#asked;
    if (asked !== null && asked.round === round && asked.sequence <= sequence && this.#options.log.misses(asked))
      return;
    this.#asked = { round, sequence };
    this.#options.ask(this.#asked);
  }
}
