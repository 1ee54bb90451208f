/**
 * One party's secret scalar for one run, and the threads that multiply points by it. The scalar is drawn from the
 * operating system when the pool is made, and dropped with it. It is never exported or stored: it is a KeyObject, and
 * reaches the threads as a message.
 */
import { createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { osRandom } from "../base/random.ts";
import { newX25519Key } from "../crypto/x25519-key.ts";
import { pointBytes } from "./curve25519.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";
import { type MaskingMessage, maskPoints, serveMasking } from "./masking-thread.ts";

const threadSource = `(${serveMasking.toString()})(
  require("node:worker_threads").parentPort, require("node:crypto"), ${maskPoints.toString()});`;

/** Points masked between two looks at the clock in this thread: 2 ms. */
const pointsPerLook = 32;

/** Points masked in this thread before others start: they take as long as the start of a thread, 50 ms. */
const pointsBeforeThreads = 800;

interface Task {
  readonly points: Uint8Array<ArrayBuffer>;
  readonly resolve: (masked: Uint8Array) => void;
  readonly reject: (failure: unknown) => void;
}

export class MaskingPool {
  readonly #threadCount: number;
  #key: KeyObject | null = newX25519Key(osRandom);
  readonly #threads: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #running = new Map<Worker, Task>();
  readonly #waiting: Task[] = [];
  #pointsHere: number;
  #failure: unknown = null;

  /**
   * @param threadCount threads to use; 0 works in this thread, in short slices
   * @param pointsHere points that are masked in this thread first
   */
  constructor(threadCount: number, pointsHere = pointsBeforeThreads) {
    assert(Number.isInteger(threadCount) && threadCount >= 0, "threadCount is a natural number");
    this.#threadCount = threadCount;
    this.#pointsHere = threadCount === 0 ? Infinity : pointsHere;
  }

  /** How many calls of mask() keep everything busy. */
  get callsAhead(): number {
    return this.#threadCount === 0 ? 1 : this.#threadCount + 2;
  }

  /**
   * @param points 32-byte points, which are copied
   * @returns each times the secret, in the same order; zero for a point of small order
   */
  mask(points: Uint8Array): Promise<Uint8Array> {
    assert(points.length % pointBytes === 0, "whole points");
    const copy = new Uint8Array(points);
    if (this.#pointsHere > 0) {
      this.#pointsHere -= copy.length / pointBytes;
      return this.#maskHere(copy);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ points: copy, resolve, reject });
      this.#dispatch();
    });
  }

  /** Stops the threads and forgets the secret. Work that is under way fails. */
  close(): void {
    this.#fail(new TandemError("PROTOCOL_STATE", "the alignment was closed"));
  }

  async #maskHere(points: Uint8Array): Promise<Uint8Array> {
    const count = points.length / pointBytes;
    for (let first = 0; first < count; first += pointsPerLook) {
      if (isSliceOver()) await nextSlice();
      if (this.#key === null) throw this.#failure;
      maskPoints({ createPublicKey, diffieHellman }, this.#key, points, first, Math.min(first + pointsPerLook, count));
    }
    return points;
  }

  #dispatch(): void {
    if (this.#key === null) {
      for (const task of this.#waiting.splice(0)) task.reject(this.#failure);
      return;
    }
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#start(this.#key);
      if (thread === null) return;
      const task = this.#waiting.shift();
      assert(task !== undefined, "a task waits");
      this.#running.set(thread, task);
      thread.ref();
      send(thread, { points: task.points }, [task.points.buffer]);
    }
  }

  #start(key: KeyObject): Worker | null {
    if (this.#threads.length === this.#threadCount) return null;
    const thread = new Worker(threadSource, { eval: true, name: "tandem-masking" });
    thread.unref();
    this.#threads.push(thread);
    thread.on("message", (masked: Uint8Array) => {
      const task = this.#running.get(thread);
      this.#running.delete(thread);
      thread.unref(); // an idle thread does not keep the process alive
      this.#idle.push(thread);
      task?.resolve(masked);
      this.#dispatch();
    });
    thread.on("error", (cause) => this.#fail(new TandemError("INTERNAL", "a masking thread failed", { cause })));
    thread.on("exit", () => this.#fail(new TandemError("INTERNAL", "a masking thread ended")));
    send(thread, { key }, []);
    return thread;
  }

  #fail(failure: unknown): void {
    if (this.#key === null) return;
    this.#key = null;
    this.#failure = failure;
    for (const task of [...this.#running.values(), ...this.#waiting.splice(0)]) task.reject(failure);
    this.#running.clear();
    for (const thread of this.#threads) void thread.terminate();
  }
}

function send(thread: Worker, message: MaskingMessage, transfer: ArrayBuffer[]): void {
  thread.postMessage(message, transfer);
}
