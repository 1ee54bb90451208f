/**
 * Tasks at a worker, for one epoch: it takes one after the other, a few ahead of its threads, and stores the results.
 * What they need it asks the party for, and keeps it in memory for as long as there are tasks.
 */
import { setMaxListeners } from "node:events";
import { TandemError } from "../../base/error.ts";
import type { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { TaskJob, TaskWork } from "../../scheme/tasks/tasks.ts";
import {
  CrewDoneSchema,
  CrewTaskSchema,
  CrewTaskTermsSchema,
  CrewTermsToldSchema,
  CrewTermsWantedSchema,
} from "../../wire/generated/tandem/v1/crew_pb.ts";
import { type Clock, every } from "../clock.ts";
import type { Epoch, Lease } from "../engine.ts";
import { sealOf } from "../seal.ts";
import { SealedMessages } from "../sealed-messages.ts";
import { doneOf, taskQueue, termsOf, termsWanted } from "../subjects.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { untilThereIsRoom } from "./room.ts";
import { TermsQuestion } from "./terms-exchange.ts";

export interface ServedTasksOptions {
  readonly worker: string;
  readonly epoch: Epoch;
  /** Sealed with the crew's key. */
  readonly messages: SealedMessages;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** One computation at a time, each with all threads; blocks have theirs too. */
  readonly turns: Exclusive;
  readonly makeTasks: (job: TaskJob) => Promise<TaskWork>;
  /** Why this worker can do no tasks. */
  readonly onTrouble: (error: unknown) => void;
  /** A task was done. */
  readonly onTask?: (() => void) | undefined;
}

/** What the party has told. */
interface Told {
  readonly work: TaskWork;
  /** Sealed with the tasks' own secret. */
  readonly messages: SealedMessages;
}

/** One is computed; one is on its way to this worker, and one from it. */
const lanes = 3;
const askMs = 500;
/** Without a task for so long it forgets what the party has told it: the party may be gone for good. */
const idleMs = 60_000;
/** Renewed so often within a lease: some may be lost. */
const renewals = 4;

export class ServedTasks {
  readonly #options: ServedTasksOptions;
  readonly #leases = new Set<Lease>();
  readonly #ended = new AbortController();
  #told: Promise<Told | null> | null = null;
  #usedMs: number;
  #isUnfit = false;

  constructor(options: ServedTasksOptions) {
    this.#options = options;
    this.#usedMs = options.clock.now();
  }

  /** Until the signal, or the epoch is over. @throws TandemError ENGINE_LOST */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, leaseMs } = this.#options;
    setMaxListeners(0, signal);
    signal.addEventListener("abort", () => this.#end(), { once: true });
    every(clock, leaseMs / renewals, signal, () => {
      for (const lease of this.#leases) lease.renew();
      if (this.#leases.size === 0 && clock.now() - this.#usedMs > idleMs) this.#told = null;
    });
    await Promise.all(Array.from({ length: lanes }, () => this.#lane(signal)));
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  /** Others can have what it has not done yet, at once. */
  giveBack(): void {
    for (const lease of this.#leases) lease.giveBack();
    this.#end();
  }

  #end(): void {
    this.#ended.abort();
    this.#leases.clear();
    this.#told = null;
  }

  async #lane(signal: AbortSignal): Promise<void> {
    const { epoch } = this.#options;
    while (!signal.aborted && !this.#isUnfit) {
      const lease = await epoch.take(taskQueue, signal);
      if (lease === null) return;
      if (this.#isUnfit) return lease.giveBack();
      this.#leases.add(lease);
      try {
        await this.#serve(lease);
      } catch (error) {
        if (error instanceof TandemError && error.code === "ENGINE_LOST") throw error;
        this.#isUnfit = true; // others may be able to do it
        if (this.#leases.has(lease)) lease.giveBack();
        this.#options.onTrouble(error);
      } finally {
        this.#leases.delete(lease);
        this.#usedMs = this.#options.clock.now();
      }
    }
  }

  async #serve(lease: Lease): Promise<void> {
    const { turns, epoch, clock, onTask } = this.#options;
    const { signal } = this.#ended;
    this.#told ??= this.#ask(signal);
    const told = await this.#told;
    if (told === null) return; // it is over
    const { work, messages } = told;
    const task = messages.open(CrewTaskSchema, taskQueue, lease.message);
    if (task === null) return; // not the crew's: its lease runs out
    const { id } = task;
    const done = await turns.run(() => (signal.aborted ? null : resultOf(work, task.task)));
    if (done === null || signal.aborted) return;
    const subject = doneOf(id);
    const sealed = messages.seal(CrewDoneSchema, subject, { id, ...done });
    await untilThereIsRoom(clock, Infinity, signal, () => epoch.append(subject, sealed)); // the party gives up in time
    if (signal.aborted) return;
    await lease.done();
    onTask?.();
  }

  /** Asks until the party answers. What is said may be lost. */
  async #ask(signal: AbortSignal): Promise<Told | null> {
    const { epoch, messages, clock, worker, makeTasks } = this.#options;
    const question = new TermsQuestion();
    const asking = new AbortController();
    const stop = (): void => asking.abort();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const subject = termsOf(worker);
      const answers = epoch.hear(subject, asking.signal);
      const ask = (): void =>
        epoch.say(
          termsWanted,
          messages.seal(CrewTermsWantedSchema, termsWanted, { worker, publicKey: question.publicKey }),
        );
      every(clock, askMs, asking.signal, ask);
      ask();
      for await (const { message } of answers) {
        const answer = messages.open(CrewTermsToldSchema, subject, message);
        const opened = answer && question.open(epoch.name, subject, answer);
        if (opened === null) continue;
        const { secret, ...job } = decodeMessage(CrewTaskTermsSchema, opened);
        return { work: await makeTasks(job), messages: new SealedMessages(sealOf(secret, epoch.name)) };
      }
      return null;
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  }
}

/** What the worker says; or why what it was given cannot be worked on. @throws what is wrong with this worker */
async function resultOf(
  work: TaskWork,
  task: Uint8Array,
): Promise<{ readonly result: Uint8Array } | { readonly refusalCode: string; readonly refusal: string }> {
  try {
    return { result: await work.do(task) };
  } catch (error) {
    if (error instanceof TandemError && error.code !== "INTERNAL")
      return { refusalCode: error.code, refusal: error.message };
    throw error;
  }
}
