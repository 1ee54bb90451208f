/**
 * What a person at a passive party does with requests: look at them, approve, deny. The command and the page use it,
 * beside the party's own process or without it. It only adds lines to the log of actions.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { lockFolder, type Release } from "../../base/files/process-lock.ts";
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import { TandemError } from "../../base/error.ts";
import { addAction, type LoggedAction, readActions } from "../../store/action-log.ts";
import {
  actionLogPath,
  readRequests,
  requestFolder,
  type RequestTerms,
  type StoredRequest,
} from "../../store/request-file.ts";
import { peerText } from "../../wire/peer-text.ts";
import { type Standing, standingOf } from "./standing.ts";

const dayMs = 86_400_000;
const reasonCharactersMax = 500;
const lockTries = 100;
const lockPauseMs = 50;

export interface DecisionOptions {
  readonly party: string;
  /** The party's output directory. */
  readonly directory: string;
  /** SHA-256 of the config file. */
  readonly config: string;
  /** How long an approval and a denial hold, unless something else is said. */
  readonly days: number;
  readonly storage?: Storage;
  readonly now?: () => number;
  /** Keeps other processes from adding to the log at the same time. */
  readonly lock?: (folder: string) => Promise<Release>;
}

/** Who decides, and how. */
export interface Person {
  readonly who: string;
  readonly via: LoggedAction["via"];
}

export interface Approval {
  /** Jobs with these terms, under any name where there are several. */
  readonly uses?: number | undefined;
  readonly days?: number | undefined;
}

/** A request as it is shown. */
export interface ShownRequest extends Pick<StoredRequest, "id" | "summary" | "reveals" | "figures" | "since" | "seen"> {
  readonly standing: Standing["kind"];
  readonly terms: Omit<RequestTerms, "columns">;
}

export class RequestDecisions {
  readonly #options: Required<DecisionOptions>;

  constructor(options: DecisionOptions) {
    this.#options = { storage: diskStorage, now: Date.now, lock: lockPatiently, ...options };
  }

  /** The latest last. @throws TandemError if stored requests or decisions were changed */
  async list(): Promise<readonly ShownRequest[]> {
    const { requests, actions, now } = await this.#read();
    return requests.map((request) => {
      const { id, summary, reveals, figures, since, seen, terms } = request;
      const { columns: _columns, ...shown } = terms;
      const standing = standingOf(request, { requests, actions, now }).kind;
      return { id, summary, reveals, figures, since, seen, standing, terms: shown };
    });
  }

  async actions(): Promise<readonly LoggedAction[]> {
    return (await this.#read()).actions;
  }

  /** @throws TandemError USAGE if there is no such request, or it cannot be approved any more */
  approve(id: string, person: Person, { uses = 1, days = this.#options.days }: Approval = {}): Promise<LoggedAction> {
    return this.#decide(id, person, { what: "approved", uses, days, reason: "" });
  }

  /** Withdraws an approval too: a job that has begun is refused when it comes again. @throws TandemError USAGE */
  deny(id: string, person: Person, reason: string): Promise<LoggedAction> {
    if (reason.length > reasonCharactersMax)
      throw new TandemError("USAGE", `the reason may have ${reasonCharactersMax} characters`);
    return this.#decide(id, person, { what: "denied", uses: 0, days: this.#options.days, reason: peerText(reason) });
  }

  async #decide(
    id: string,
    { who, via }: Person,
    { days, ...decision }: Pick<LoggedAction, "what" | "uses" | "reason"> & { readonly days: number },
  ): Promise<LoggedAction> {
    const { directory, config, storage } = this.#options;
    await storage.makeFolder(requestFolder(directory));
    const release = await this.#options.lock(requestFolder(directory));
    try {
      const known = await this.#read();
      const request = known.requests.find((each) => each.id === id);
      if (request === undefined) throw this.#unknown(id);
      if (standingOf(request, known).kind === "over" && decision.what === "approved")
        throw new TandemError(
          "USAGE",
          `request ${id} is over: its approval was used or has ended. ${request.terms.partner} has to request it again`,
        );
      const [at, until] = [known.now, known.now + days * dayMs].map((ms) => new Date(ms).toISOString());
      const { partner, job } = request.terms;
      const action = { at, who: peerText(who), via, request: id, terms: request.digest, partner, job, until, config };
      return await addAction(actionLogPath(directory), { ...action, ...decision }, storage);
    } finally {
      await release();
    }
  }

  async #read() {
    const { directory, storage } = this.#options;
    const [requests, actions] = await Promise.all([
      readRequests(directory, storage),
      readActions(actionLogPath(directory), storage),
    ]);
    return { requests, actions, now: this.#options.now() };
  }

  #unknown(id: string): TandemError {
    const { party } = this.#options;
    return new TandemError(
      "USAGE",
      `${party} has no request ${peerText(id)}. 'tandem requests' lists them; a partner may have replaced it`,
    );
  }
}

/** Of the config's text: it is part of each decision. @throws TandemError FILE_UNREADABLE */
export async function configDigest(path: string): Promise<string> {
  try {
    return createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  } catch (cause) {
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read`, { cause });
  }
}

/** The page and a command may decide at the same moment. */
async function lockPatiently(folder: string): Promise<Release> {
  for (let tries = 1; ; tries++) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof TandemError) || error.code !== "PARTY_BUSY" || tries === lockTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, lockPauseMs));
    }
  }
}
