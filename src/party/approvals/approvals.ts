/**
 * Requests at a passive party whose policy wants a person to approve them (`policy.approval`). A request is stored when
 * it comes, and is found again after a restart; the decision is a line in the log of actions, which another process
 * may have written. Each use of an approval is stored before anything is revealed under it.
 *
 *   ask -> waiting -> approved -> alignments -> one job -> over
 *                \-> denied
 */
import { osRandom } from "../../base/random.ts";
import { deferred } from "../../base/scheduling/deferred.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import type { Emit } from "../../record/events.ts";
import { type LoggedAction, readActions } from "../../store/action-log.ts";
import {
  actionLogPath,
  type ApprovalUse,
  readRequests,
  removeRequest,
  type RequestTerms,
  type StoredRequest,
  writeRequest,
} from "../../store/request-file.ts";
import { type Brought, difference, termsDigest } from "./request-terms.ts";
import { isOpen, type Standing, standingOf } from "./standing.ts";

/** Requests of one partner that wait. */
export const waitingPerPartnerMax = 4;
/** Requests that are over are kept up to this number. */
const keptMax = 200;
/** Stands for the job of an alignment alone. */
const noJob = { id: "alignment", rows: "0".repeat(64) };
const pollMs = 500;
/** Without anyone who waits, nothing is polled. */
const pollForMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface ApprovalsOptions {
  readonly party: string;
  /** The party's output directory. */
  readonly directory: string;
  readonly storage: Storage;
  /** Runs work on this party's own files: the details of an error go to its own log only. */
  readonly ownFiles: <T>(work: () => Promise<T>) => Promise<T>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls `ring` once. @returns a function that cancels it */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /** After this many days a request that is not repeated is dropped. */
  readonly days: number;
  readonly emit: Emit;
  /** A new request waits. */
  readonly onNew?: ((request: StoredRequest, waiting: number) => void) | undefined;
}

/** What a job would reveal, for the person who decides. */
export type Described = Pick<StoredRequest, "summary" | "reveals" | "figures">;

/** A request as one connection made it. */
export interface Asked {
  readonly id: string;
  /** Of the job that continues; empty: a new one. */
  readonly job: string;
}

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #turns = new Exclusive();
  #requests: StoredRequest[] | null = null;
  #actions: readonly LoggedAction[] = [];
  #logBytes = -1;
  #failure: unknown = null;
  /** What was asked last, by partner and job. */
  readonly #current = new Map<string, Asked>();
  readonly #reported = new Set<string>();
  #changed = deferred();
  #isPolling = false;
  #awaitedAt = 0;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Reads what is stored. @throws TandemError if it was changed */
  load(): Promise<void> {
    return this.#turns.run(async () => void (await this.#refresh()));
  }

  /**
   * Finds the request among those that are known, or stores it.
   * @param job id of the job that continues; empty: a new one
   * @throws TandemError PARTY_BUSY if too many of the partner's requests wait
   */
  ask(terms: RequestTerms, job: string, describe: () => Promise<Described>): Promise<Asked> {
    return this.#turns.run(async () => {
      const requests = await this.#refresh();
      const digest = termsDigest(terms);
      const same = requests.filter((each) => each.digest === digest && this.#standing(each, job).kind !== "over");
      // A job that continues belongs to the request that it began with, also if the same was requested again.
      const known = same.find(({ uses }) => job !== "" && uses.some((use) => use.job?.id === job)) ?? same.at(-1);
      const asked = { id: (known ?? (await this.#add(requests, terms, digest, await describe()))).id, job };
      if (known !== undefined) await this.#see(known);
      this.#current.set(keyOf(terms.partner, terms.job), asked);
      this.#tell(asked);
      return asked;
    });
  }

  /** @throws TandemError if what is stored was changed */
  standing({ id, job }: Asked): Standing {
    if (this.#failure !== null) throw this.#failure;
    const request = this.#requests?.find((each) => each.id === id);
    return request === undefined ? { kind: "over" } : this.#standing(request, job);
  }

  /** Resolves when the standing of a request may have changed. */
  get changed(): Promise<void> {
    this.#awaitedAt = this.#options.now();
    this.#poll();
    return this.#changed.promise;
  }

  /** @throws TandemError POLICY unless the request of this job is approved, and brings no more than it said */
  async check(partner: string, job: string, brought: Brought): Promise<void> {
    await this.#turns.run(async () => void (await this.#approved(partner, job, brought, "")));
  }

  /** An alignment of an approved job begins to reveal something. @throws TandemError POLICY */
  alignmentBegins(partner: string, job: string): Promise<void> {
    return this.#use(partner, job, { rows: 0 }, "", (open) => ({ ...open, alignments: open.alignments + 1 }));
  }

  /**
   * An approved job begins or continues.
   * @param rows digest of its rows, which must be the same in every attempt
   * @throws TandemError POLICY
   */
  jobBegins(partner: string, job: string, brought: Brought, begun: NonNullable<ApprovalUse["job"]>): Promise<void> {
    return this.#use(partner, job, brought, begun.id, (open) => {
      if (open.job !== null && open.job.rows !== begun.rows)
        throw this.#refusal(job, "it began with other rows; request it under another name");
      return { ...open, job: begun };
    });
  }

  /** An approved alignment has ended: one without a job has used its approval. */
  async aligned(partner: string, job: string): Promise<void> {
    const asked = this.#current.get(keyOf(partner, job));
    if (this.#known.find(({ id }) => id === asked?.id)?.terms.work !== "alignment") return;
    await this.#use(partner, job, { rows: 0 }, "", (open) => ({ ...open, job: noJob }));
  }

  get #known(): readonly StoredRequest[] {
    return this.#requests ?? [];
  }

  #standing(request: StoredRequest, job: string): Standing {
    return standingOf(request, { requests: this.#known, actions: this.#actions, now: this.#options.now() }, job);
  }

  async #use(
    partner: string,
    job: string,
    brought: Brought,
    jobId: string,
    change: (open: ApprovalUse) => ApprovalUse,
  ): Promise<void> {
    await this.#turns.run(async () => {
      const { request, approval } = await this.#approved(partner, job, brought, jobId);
      const before =
        request.uses.find((use) => use.approval === approval.hash && use.job?.id === jobId) ??
        request.uses.find((use) => isOpen(use, approval));
      const after = change(before ?? { approval: approval.hash, alignments: 0, job: null });
      await this.#store({ ...request, uses: [...request.uses.filter((use) => use !== before), after] });
    });
  }

  async #approved(
    partner: string,
    job: string,
    brought: Brought,
    jobId: string,
  ): Promise<{ readonly request: StoredRequest; readonly approval: LoggedAction }> {
    const requests = await this.#refresh();
    const asked = this.#current.get(keyOf(partner, job));
    const request = requests.find(({ id }) => id === asked?.id);
    if (request === undefined) throw this.#refusal(job, "it was not requested before");
    const differs = difference(request.terms, brought);
    if (differs !== null) throw this.#refusal(job, `it is not what was requested: ${differs}. Request it again`);
    const standing = this.#standing(request, jobId);
    if (standing.kind === "approved") return { request, approval: standing.approval };
    if (standing.kind === "denied") throw this.denial(request.id, standing.reason);
    const why = standing.kind === "waiting" ? "it waits for approval" : "its approval was used or has ended";
    throw this.#refusal(job, `${why} (request ${request.id}). Repeat the command to request it again`);
  }

  #refusal(job: string, why: string): TandemError {
    return new TandemError("POLICY", `${this.#options.party} does not begin job ${job}: ${why}`);
  }

  denial(id: string, reason: string): TandemError {
    const { party } = this.#options;
    return new TandemError("POLICY", `${party} has denied the request ${id}${reason === "" ? "" : `: ${reason}`}`);
  }

  async #add(
    requests: readonly StoredRequest[],
    terms: RequestTerms,
    digest: string,
    described: Described,
  ): Promise<StoredRequest> {
    const { now } = this.#options;
    // A partner that changes its mind replaces its request: only the last one of a name can be approved.
    const replaced = requests.filter(
      (each) =>
        each.terms.partner === terms.partner &&
        each.terms.job === terms.job &&
        this.#standing(each, "").kind === "waiting",
    );
    for (const each of [...replaced, ...this.#outdated(requests)]) await this.#remove(each);
    const waiting = this.#known.filter(
      (each) => each.terms.partner === terms.partner && this.#standing(each, "").kind === "waiting",
    ).length;
    const request = { id: this.#newId(), digest, terms, ...described, since: now(), seen: now(), uses: [] };
    const isCovered = standingOf(request, this.#context).kind === "approved";
    if (!isCovered && waiting >= waitingPerPartnerMax)
      throw new TandemError(
        "PARTY_BUSY",
        `${this.#options.party} has ${waiting} requests of this party waiting for approval, and takes no more`,
      );
    await this.#store(request);
    if (!isCovered) this.#options.onNew?.(request, waiting + 1);
    return request;
  }

  get #context() {
    return { requests: this.#known, actions: this.#actions, now: this.#options.now() };
  }

  /** Requests that are not repeated any more, and the oldest of those that are over. */
  #outdated(requests: readonly StoredRequest[]): readonly StoredRequest[] {
    const { now, days } = this.#options;
    const valid = new Set(
      this.#actions.filter(({ until }) => Date.parse(until) > now()).flatMap(({ hash, request }) => [hash, request]),
    );
    const forgotten = requests.filter(
      (each) => this.#standing(each, "").kind === "waiting" && each.seen < now() - days * dayMs,
    );
    const over = requests.filter(
      (each) =>
        this.#standing(each, "").kind === "over" &&
        !valid.has(each.id) &&
        !each.uses.some(({ approval }) => valid.has(approval)),
    );
    return [...forgotten, ...over.slice(0, Math.max(0, over.length - keptMax))];
  }

  #newId(): string {
    for (;;) {
      const id = Buffer.from(osRandom.fill(new Uint8Array(4))).toString("hex");
      if (!this.#known.some((each) => each.id === id) && !this.#actions.some(({ request }) => request === id))
        return id;
    }
  }

  async #see(request: StoredRequest): Promise<void> {
    const now = this.#options.now();
    if (now - request.seen > hourMs) await this.#store({ ...request, seen: now });
  }

  /** Once for each request in the life of the process. */
  #tell(asked: Asked): void {
    const { party, emit } = this.#options;
    const request = this.#known.find(({ id }) => id === asked.id);
    if (request === undefined || this.#reported.has(asked.id) || this.#standing(request, asked.job).kind !== "waiting")
      return;
    this.#reported.add(asked.id);
    const { partner, job, work } = request.terms;
    emit({ type: "request-waits", party, peer: partner, job, request: request.id, work });
  }

  async #store(request: StoredRequest): Promise<void> {
    const { directory, storage, ownFiles } = this.#options;
    await ownFiles(() => writeRequest(directory, request, storage));
    this.#requests = [...this.#known.filter(({ id }) => id !== request.id), request].toSorted(
      (a, b) => a.since - b.since,
    );
  }

  async #remove(request: StoredRequest): Promise<void> {
    const { directory, storage, ownFiles } = this.#options;
    await ownFiles(() => removeRequest(directory, request.id, storage));
    this.#requests = this.#known.filter(({ id }) => id !== request.id);
  }

  /** Reads what other processes have decided. */
  async #refresh(): Promise<readonly StoredRequest[]> {
    const { directory, storage, ownFiles, emit, party } = this.#options;
    try {
      this.#requests ??= [...(await ownFiles(() => readRequests(directory, storage)))];
      const path = actionLogPath(directory);
      const bytes = await ownFiles(() => storage.size(path));
      if (bytes === this.#logBytes && this.#failure === null) return this.#requests;
      const before = this.#logBytes === -1 ? null : this.#actions.length;
      this.#actions = await ownFiles(() => readActions(path, storage));
      this.#logBytes = bytes;
      this.#failure = null;
      for (const { request, partner: peer, job, what, who, reason } of this.#actions.slice(
        before ?? this.#actions.length,
      ))
        emit({ type: "request-decided", party, peer, job, request, what, who, reason });
    } catch (error) {
      this.#failure = error;
      this.#announce();
      throw error;
    }
    this.#announce();
    return this.#requests;
  }

  #announce(): void {
    const { resolve } = this.#changed;
    this.#changed = deferred();
    resolve();
  }

  /** While someone waits: the decision is a line that another process writes. */
  #poll(): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    this.#options.alarm(pollMs, () => {
      this.#isPolling = false;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const { directory, storage, now } = this.#options;
    const bytes = await storage.size(actionLogPath(directory)).catch(() => 0);
    if (bytes !== this.#logBytes) await this.load().catch(() => {}); // those who wait receive the reason
    if (now() - this.#awaitedAt < pollForMs) this.#poll();
  }
}

function keyOf(partner: string, job: string): string {
  return `${job} ${partner}`;
}
