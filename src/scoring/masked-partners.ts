/**
 * The passive parties of one question of masked scoring: calls with the time that is left, and whose call failed. A
 * question is told of once per party, whatever number of calls it takes.
 */
import { TandemError } from "../base/error.ts";
import type { MaskedPeer } from "../scheme/masked/masked-scorer.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import type { OnQuestion } from "./scorer.ts";

export class MaskedPartners {
  readonly peers: readonly MaskedPeer[];
  /** Of each party whose call failed, the first error. */
  readonly failures = new Map<string, TandemError>();
  readonly #idCount: number;
  readonly #onQuestion: OnQuestion;
  readonly #started = performance.now();

  constructor(peers: readonly ScoringPeer[], timeoutMs: number, idCount: number, onQuestion: OnQuestion) {
    this.#idCount = idCount;
    this.#onQuestion = onQuestion;
    const deadline = this.#started + timeoutMs;
    const left = (): { timeoutMs: number } => ({ timeoutMs: deadline - performance.now() });
    this.peers = peers.map((peer) => ({
      name: peer.name,
      maskOpen: (request) => this.#noting(peer.name, peer.maskOpen(request, left())),
      maskStep: (request) => this.#noting(peer.name, peer.maskStep(request, left())),
    }));
  }

  async ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      const answer = await question();
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
