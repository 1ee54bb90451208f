/** A passive party in this process, behind the TLS server that `tandem party` has. */
import type { Storage } from "../../src/base/files/storage.ts";
import type { PassiveConfig } from "../../src/party/config/config.ts";
import { runPassive } from "../../src/party/passive/run.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import { EventLog } from "./event-log.ts";

/** Disk and clock. */
export interface PassiveSurroundings {
  readonly storage?: Storage;
  readonly now?: () => number;
  /** How often certificates and pins are looked at. */
  readonly credentialsMs?: number;
}

export class RunningParty {
  /** 0: it only dials. */
  readonly port: number;
  readonly events: readonly PartyEvent[];
  readonly #log: EventLog;
  readonly #ended: Promise<void>;
  readonly #stopping: AbortController;

  private constructor(port: number, log: EventLog, ended: Promise<void>, stopping: AbortController) {
    this.port = port;
    this.events = log.events;
    this.#log = log;
    this.#ended = ended;
    this.#stopping = stopping;
  }

  static async start(
    config: PassiveConfig,
    { storage, now, credentialsMs }: PassiveSurroundings = {},
  ): Promise<RunningParty> {
    const log = new EventLog();
    const stopping = new AbortController();
    const ended = runPassive(config, log.emit, {
      stop: stopping.signal,
      ...(storage === undefined ? {} : { storage }),
      ...(now === undefined ? {} : { now }),
      ...(credentialsMs === undefined ? {} : { credentialsMs }),
    });
    const port = config.listen === undefined ? 0 : (await orEnd(log.seen("listening"), ended)).port;
    return new RunningParty(port, log, ended, stopping);
  }

  seen<T extends PartyEvent["type"]>(type: T, count = 1): Promise<Extract<PartyEvent, { type: T }>> {
    return orEnd(this.#log.seen(type, { count }), this.#ended);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }
}

function orEnd<T>(seen: Promise<T>, ended: Promise<void>): Promise<T> {
  return Promise.race([seen, ended.then(() => Promise.reject(new Error("the party ended before the event")))]);
}
