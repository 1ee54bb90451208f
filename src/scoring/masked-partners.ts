/**
 * The passive parties of one question of masked scoring: calls with the time that is left, and whose call failed. A
 * question is told of once per party, whatever number of calls it takes. A session that is being set up may outlive the
 * question that asked for it: the next question finds it further on, and not at the beginning again.
 */
import { TandemError } from "../base/error.ts";
import type { MaskedPeer } from "../scheme/masked/masked-scorer.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import type { OnQuestion } from "./scorer.ts";

/** How long one call of a set-up may take, whoever waits for it. */
const setUpMsMin = 10_000;

export class MaskedPartners {
  readonly peers: readonly MaskedPeer[];
  /** Of each party whose call failed, the first error. */
  readonly failures = new Map<string, TandemError>();
  readonly #idCount: number;
  readonly #onQuestion: OnQuestion;
  readonly #started = performance.now();
  readonly #timeoutMs: number;

  constructor(peers: readonly ScoringPeer[], timeoutMs: number, idCount: number, onQuestion: OnQuestion) {
    this.#idCount = idCount;
    this.#timeoutMs = timeoutMs;
    this.#onQuestion = onQuestion;
    const deadline = this.#started + timeoutMs;
    const left = (atLeastMs = 0): { timeoutMs: number } => ({
      timeoutMs: Math.max(deadline - performance.now(), atLeastMs),
    });
    this.peers = peers.map((peer) => ({
      name: peer.name,
      maskOpen: (request) => this.#noting(peer.name, peer.maskOpen(request, left(setUpMsMin))),
      maskStep: (request) => {
        const isSetUp = (request.batch ?? 0) === 0 && (request.scheme?.length ?? 0) > 0;
        return this.#noting(peer.name, peer.maskStep(request, left(isSetUp ? setUpMsMin : 0)));
      },
    }));
  }

  async ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      const answer = await this.#inTime(question());
      for (const { name } of this.peers) this.#tell(name, null);
      return answer;
    } catch (error) {
      const known =
        error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
      // What no call failed with is wrong with what somebody said: that cannot be told apart.
      if (this.failures.size === 0) for (const { name } of this.peers) this.failures.set(name, known);
      for (const [name, failure] of this.failures) this.#tell(name, failure);
      throw error;
    }
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const names = this.peers.map(({ name }) => name).join(" and ");
      const error = new TandemError("PARTY_LOST", `party ${names} did not answer in time`);
      timer = setTimeout(() => reject(error), Math.max(1, this.#timeoutMs));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #noting<T>(name: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof TandemError && !this.failures.has(name)) this.failures.set(name, error);
      throw error;
    }
  }

  #tell(party: string, error: TandemError | null): void {
    this.#onQuestion({ party, idCount: this.#idCount, ms: performance.now() - this.#started, error });
  }
}
