/**
 * Tasks at a worker, for one epoch: it takes one after the other, a few ahead of its threads, and stores the results.
 * It requests their terms from the party, and keeps them in memory as long as there are tasks.
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
import { doneSubject, taskQueue, termsSubject, termsWanted } from "../subjects.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { untilThereIsRoom } from "./room.ts";
import { TermsQuestion } from "./terms-exchange.ts";

export interface ServedTasksOptions {
  readonly worker: string;
  readonly epoch: Epoch;
  /** Encrypted with the crew's key. */
  readonly messages: SealedMessages;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** One computation at a time, each with all threads; shared with blocks. */
  readonly turns: Exclusive;
  readonly makeTasks: (job: TaskJob) => Promise<TaskWork>;
  /** Why this worker cannot run tasks. */
  readonly onTrouble: (error: unknown) => void;
  /** Called after each finished task. */
  readonly onTask?: (() => void) | undefined;
}

/** The terms that the party has sent. */
interface Terms {
  readonly work: TaskWork;
  /** Encrypted with the tasks' own secret. */
  readonly messages: SealedMessages;
}

/** One is computed; one is on its way to this worker, and one from it. */
const lanes = 3;
const askMs = 500;
/** Without a task for this time it discards the terms: the party may be gone for good. */
const idleMs = 60_000;
/** Renewals per lease: some may be lost. */
const renewals = 4;

export class ServedTasks {
  readonly #options: ServedTasksOptions;
  readonly #leases = new Set<Lease>();
  readonly #ended = new AbortController();
  #terms: Promise<Terms | null> | null = null;
  #usedMs: number;
  #isUnfit = false;

  constructor(options: ServedTasksOptions) {
    this.#options = options;
    this.#usedMs = options.clock.now();
  }

  /** Runs until the signal, or the epoch is over. @throws TandemError ENGINE_LOST */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, leaseMs } = this.#options;
    setMaxListeners(0, signal);
    signal.addEventListener("abort", () => this.#end(), { once: true });
    every(clock, leaseMs / renewals, signal, () => {
      for (const lease of this.#leases) lease.renew();
      if (this.#leases.size === 0 && clock.now() - this.#usedMs > idleMs) this.#terms = null;
    });
    await Promise.all(Array.from({ length: lanes }, () => this.#lane(signal)));
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  /** Returns unfinished tasks at once. */
  giveBack(): void {
    for (const lease of this.#leases) lease.giveBack();
    this.#end();
  }

  #end(): void {
    this.#ended.abort();
    this.#leases.clear();
    this.#terms = null;
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
        this.#isUnfit = true; // other workers may be able to run it
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
    this.#terms ??= this.#ask(signal);
    const terms = await this.#terms;
    if (terms === null) return; // the epoch is over
    const { work, messages } = terms;
    const task = messages.open(CrewTaskSchema, taskQueue, lease.message);
    if (task === null) return; // not the crew's: its lease expires
    const { id } = task;
    const done = await turns.run(() => (signal.aborted ? null : resultOf(work, task.task)));
    if (done === null || signal.aborted) return;
    const subject = doneSubject(id);
    const sealed = messages.seal(CrewDoneSchema, subject, { id, ...done });
    await untilThereIsRoom(clock, Infinity, signal, () => epoch.append(subject, sealed)); // the party times out
    if (signal.aborted) return;
    await lease.done();
    onTask?.();
  }

  /** Repeats the request until the party answers: messages may be lost. */
  async #ask(signal: AbortSignal): Promise<Terms | null> {
    const { epoch, messages, clock, worker, makeTasks } = this.#options;
    const question = new TermsQuestion();
    const asking = new AbortController();
    const stop = (): void => asking.abort();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const subject = termsSubject(worker);
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

/** The result of the task, or the error of an invalid one. @throws errors of this worker itself */
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
