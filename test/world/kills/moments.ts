/**
 * Where a job stands, as far as it can be seen from outside: what the shop's log says, how many trees the bank has, and
 * how the engine's streams grow.
 */
import type { EngineServers } from "../crews/engine-servers.ts";
import type { BankEvents } from "./bank-events.ts";
import type { Moment } from "./kill-plan.ts";
import { pause } from "./mortal-process.ts";

const lookMs = 15;
/** A moment that does not come is not waited for any longer: something is done all the same. */
const waitMsMax = 6000;

export class Moments {
  readonly #servers: EngineServers;
  readonly #events: BankEvents;
  readonly #isOver: () => boolean;
  /** How often blocks were handed out, or went to another worker. */
  #handedOut = 0;
  moves = 0;
  epochsLost = 0;

  constructor(servers: EngineServers, events: BankEvents, isOver: () => boolean) {
    this.#servers = servers;
    this.#events = events;
    this.#isOver = isOver;
  }

  /** A line of the shop's log. */
  hear(line: string): void {
    if (line.includes('"event":"block-moved"')) this.moves++;
    if (line.includes('"event":"epoch-lost"')) this.epochsLost++;
    if (/"event":"(?:crew-opened|block-moved)"/.test(line)) this.#handedOut++;
  }

  /** @returns whether it came; otherwise it was waited for in vain, or the job is over */
  async comes(moment: Moment, waitMs = waitMsMax): Promise<boolean> {
    const [handedOut, trees] = [this.#handedOut, this.#events.trees];
    let before: Growth | null = null;
    for (const began = performance.now(); performance.now() - began < waitMs && !this.#isOver();) {
      if (moment === "reading data" && this.#handedOut > handedOut) return true;
      if (moment === "between rounds" && this.#events.trees > trees) return true;
      if (moment === "loading gradients" || moment === "in a level") {
        const now = await this.#growth();
        if (before !== null && now !== null && isAt(moment, before, now)) return true;
        before = now;
      }
      await pause(lookMs);
    }
    return false;
  }

  async #growth(): Promise<Growth | null> {
    const streams = await this.#servers.streams();
    if (streams === null) return null;
    const count = (kind: string): number =>
      streams.filter(({ name }) => name.endsWith(kind)).reduce((sum, { messages }) => sum + messages, 0);
    return { logged: count("-log"), answered: count("-sum") };
  }
}

interface Growth {
  readonly logged: number;
  readonly answered: number;
}

/** Gradients are logged before the first answer; answers arrive within a level. */
function isAt(moment: Moment, before: Growth, now: Growth): boolean {
  if (moment === "in a level") return now.answered > before.answered;
  return now.logged > before.logged && now.answered === 0;
}
