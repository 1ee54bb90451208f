/**
 * A party's tasks at its workers, for one attempt. A limited number is offered at a time; the first result of each is
 * used, and others are never decrypted. The terms that workers need, possibly with a key, are sent on request and never
 * stored. Any loss ends the attempt with an error from which a new attempt may recover.
 */
import { setMaxListeners } from "node:events";
import { isErrorCode, TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import type { TaskJob, Tasks } from "../../scheme/tasks/tasks.ts";
import {
  CrewDoneSchema,
  CrewTaskSchema,
  CrewTaskTermsSchema,
  CrewTermsToldSchema,
  CrewTermsWantedSchema,
} from "../../wire/generated/tandem/v1/crew_pb.ts";
import { type Clock, every } from "../clock.ts";
import { type CrewStatusTable, workersMissing } from "../crew-status.ts";
import type { Epoch } from "../engine.ts";
import { Slots } from "../nats/slots.ts";
import { crewKeyBytes, sealOf } from "../seal.ts";
import { SealedMessages } from "../sealed-messages.ts";
import { allDone, lastNumber, taskQueue, termsSubject, termsWanted } from "../subjects.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { untilThereIsRoom } from "./room.ts";
import { answerTo } from "./terms-exchange.ts";

export interface RemoteTasksOptions {
  readonly epoch: Epoch;
  /** Encrypted with the crew's key. */
  readonly messages: SealedMessages;
  readonly statusTable: CrewStatusTable;
  readonly clock: Clock;
  /** How long no result may arrive, and how long to wait for room. */
  readonly patienceMs: number;
  readonly job: TaskJob;
  /** Called if no result has arrived for a while. */
  readonly onSilence?: (() => Promise<void>) | undefined;
  /** Called once, with the error that ends the attempt. */
  readonly onFailure?: ((error: TandemError) => void) | undefined;
}

/** Limit of pending tasks: enough to keep a connection and many workers busy, with little memory. */
const tasksMax = 64;
const lookMs = 2000;
/** How long a stored result may fail to arrive: servers have been seen to forget subscribers. */
const unheardMs = 4000;
const looksInVainMax = 2;
/** Longer than a task and a usual lease. */
const silenceMs = 15_000;

interface Awaited {
  readonly resolve: (result: Uint8Array) => void;
  readonly reject: (error: TandemError) => void;
  /** The engine has confirmed the task. */
  isOffered: boolean;
}

export class RemoteTasks implements Tasks {
  readonly #options: RemoteTasksOptions;
  /** The secret of these tasks only, part of the terms. */
  readonly #secret = osRandom.fill(new Uint8Array(crewKeyBytes));
  readonly #messages: SealedMessages;
  readonly #slots = new Slots(tasksMax);
  readonly #ended = new AbortController();
  readonly #awaited = new Map<number, Awaited>();
  #lastId = 0;
  /** When the last result arrived, or the first task was offered. */
  #heardMs = 0;
  #failure: TandemError | null = null;
  #isLooking = false;
  #followAnew = (): void => {};
  #looksInVain = 0;
  /** The beginning of the silence that was reported. */
  #toldMs = -1;

  constructor(options: RemoteTasksOptions) {
    this.#options = options;
    this.#messages = new SealedMessages(sealOf(this.#secret, options.epoch.name));
    const { signal } = this.#ended;
    setMaxListeners(0, signal);
    const onFailure = (error: unknown): void => this.#fail(error);
    this.#takeResults(signal).catch(onFailure);
    this.#tellTerms(signal).catch(onFailure);
    every(options.clock, lookMs, signal, () => {
      if (this.#isLooking || this.#awaited.size === 0) return;
      this.#isLooking = true;
      this.#look()
        .catch(onFailure)
        .finally(() => (this.#isLooking = false));
    });
  }

  run(task: Uint8Array): Promise<Uint8Array> {
    return this.#slots.within(async () => {
      this.#check();
      const id = ++this.#lastId;
      if (this.#awaited.size === 0) this.#heardMs = this.#options.clock.now();
      const result = new Promise<Uint8Array>((resolve, reject) =>
        this.#awaited.set(id, { resolve, reject, isOffered: false }),
      );
      this.#offer(id, task).catch((error: unknown) => this.#fail(error));
      return result;
    });
  }

  /** Pending calls fail. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#fail(new TandemError("PROTOCOL_STATE", "the attempt is over"));
  }

  async #offer(id: number, task: Uint8Array): Promise<void> {
    const { epoch, clock, patienceMs } = this.#options;
    const sealed = this.#messages.seal(CrewTaskSchema, taskQueue, { id, task });
    await untilThereIsRoom(clock, patienceMs, this.#ended.signal, () => epoch.offer(taskQueue, sealed));
    const awaited = this.#awaited.get(id);
    if (awaited !== undefined) awaited.isOffered = true;
  }

  /** Reads repeatedly from the first stored result: duplicates are recognised. */
  async #takeResults(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const following = new AbortController();
      const stop = (): void => following.abort();
      signal.addEventListener("abort", stop, { once: true });
      this.#followAnew = stop;
      for await (const { subject, message } of this.#options.epoch.follow(allDone, -1, following.signal))
        this.#take(subject, message);
      signal.removeEventListener("abort", stop);
      if (!following.signal.aborted)
        throw new TandemError("ENGINE_LOST", "the engine ended the message stream of this attempt");
    }
  }

  #take(subject: string, message: Uint8Array): void {
    const id = lastNumber(subject);
    const awaited = this.#awaited.get(id);
    if (awaited === undefined) return; // a duplicate
    const done = this.#messages.open(CrewDoneSchema, subject, message);
    if (done?.id !== id) return; // a foreign message: the worker's result is still to come
    this.#awaited.delete(id);
    this.#heardMs = this.#options.clock.now();
    this.#looksInVain = 0;
    if (isErrorCode(done.refusalCode)) awaited.reject(new TandemError(done.refusalCode, done.refusal));
    else awaited.resolve(done.result);
  }

  async #tellTerms(signal: AbortSignal): Promise<void> {
    const { epoch, messages, job } = this.#options;
    const terms = encodeMessage(CrewTaskTermsSchema, { ...job, secret: this.#secret });
    for await (const { message } of epoch.hear(termsWanted, signal)) {
      const wanted = messages.open(CrewTermsWantedSchema, termsWanted, message);
      if (wanted === null) continue;
      const subject = termsSubject(wanted.worker);
      const answer = answerTo(wanted.publicKey, epoch.name, subject, terms);
      epoch.say(subject, messages.seal(CrewTermsToldSchema, subject, answer));
    }
  }

  /** While waiting for results: checks that the engine has every task, and that workers make progress. */
  async #look(): Promise<void> {
    const { epoch, clock, patienceMs, statusTable, onSilence } = this.#options;
    const waiting = [...this.#awaited].filter(([, { isOffered }]) => isOffered).map(([id]) => id);
    const offered = await epoch.offered(taskQueue);
    const still = waiting.filter((id) => this.#awaited.has(id)).length;
    const silentMs = clock.now() - this.#heardMs;
    // A result is stored before its task is marked as done: tasks that are no longer offered must have results.
    if (silentMs > unheardMs && still > offered) {
      if (++this.#looksInVain > looksInVainMax)
        throw new TandemError("ENGINE_LOST", `the engine has lost ${still - offered} of ${still} tasks`);
      this.#followAnew();
    }
    if (silentMs > silenceMs && this.#toldMs !== this.#heardMs) {
      this.#toldMs = this.#heardMs;
      await onSilence?.();
    }
    if (silentMs <= patienceMs || this.#awaited.size === 0) return;
    const what = `no task was done for ${Math.round(silentMs / 1000)} s`;
    throw workersMissing(await statusTable.read(), 1, 0, null, what);
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    const isOver = this.#ended.signal.aborted;
    this.#failure =
      error instanceof TandemError
        ? error
        : new TandemError("ENGINE_LOST", "the connection to the workers failed", { cause: error });
    for (const { reject } of this.#awaited.values()) reject(this.#failure);
    this.#awaited.clear();
    this.#ended.abort();
    if (!isOver) this.#options.onFailure?.(this.#failure);
  }
}
