/** Scoring with a model that was trained with masked_scoring: parties answer with sums, and no outcome of a split. */
import { TandemError } from "../base/error.ts";
import type { MaskedPeer } from "../scheme/masked/mask-channel.ts";
import { type AskParties, MaskedDriver } from "../scheme/masked/masked-driver.ts";
import type { ActiveShare } from "../store/share-files.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import type { Outputs } from "./outputs.ts";
import { retryLost } from "./retry-lost.ts";
import type { ScoringModel } from "./scoring-model.ts";
import type {
  OnQuestion,
  PartyReadiness,
  RowValues,
  ScoringOptions,
  ScoringProtocol,
  ScoringRows,
} from "./scoring-question.ts";

/** The least time of one call of a set-up, whatever time the question has left. */
const setUpMsMin = 10_000;

export class MaskedScoring implements ScoringProtocol {
  readonly #driver: MaskedDriver;
  readonly #model: ScoringModel;
  readonly #peers: readonly ScoringPeer[];
  readonly #closing: AbortSignal;
  readonly #onQuestion: OnQuestion;

  /** @param peers those with splits in the model, in its order */
  constructor(
    share: ActiveShare,
    model: ScoringModel,
    peers: readonly ScoringPeer[],
    closing: AbortSignal,
    onQuestion: OnQuestion,
  ) {
    this.#driver = new MaskedDriver(share, { model: share.model });
    this.#model = model;
    this.#peers = peers;
    this.#closing = closing;
    this.#onQuestion = onQuestion;
  }

  async ready(timeoutMs: number): Promise<PartyReadiness[]> {
    const partners = this.#partners(0, timeoutMs);
    try {
      await this.#driver.ready((_, question) => partners.ask(question));
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
    }
    return this.#peers.map(({ name }) => ({ party: name, trouble: partners.failures.get(name) ?? null }));
  }

  async score(
    { ids, columns }: ScoringRows,
    outputs: Outputs,
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<RowValues> {
    const deadline = performance.now() + timeoutMs;
    const ask: AskParties = (idCount, question) =>
      retryLost(deadline - performance.now(), this.#closing, (attemptMs) =>
        this.#partners(idCount, attemptMs).ask(question),
      );
    const { margins, unknown } = await this.#driver.score(
      {
        rowCount: ids.length,
        hasIds: true,
        batchEnd: (first, rowsMax) => this.#model.batchEnd(ids, first, rowsMax),
        message: (first, end) => ({ ids: ids.slice(first, end), unknownAsMissing }),
        ownOutcomes: this.#model.ownOutcomes(columns),
        baseMargins: this.#model.baseMargins(columns),
      },
      ask,
    );
    return { values: await outputs.fromMargins(margins, { idCount: ids.length, columns }), unknown };
  }

  #partners(idCount: number, timeoutMs: number): MaskedPartners {
    return new MaskedPartners(this.#peers, timeoutMs, idCount, this.#onQuestion);
  }
}

/**
 * The passive parties of one question: calls with the time that is left, and which party's call failed. A question is
 * reported once per party, whatever number of calls it takes. A session's set-up may outlive the question that began
 * it, so that the next question finds it further on instead of at the beginning.
 */
export class MaskedPartners {
  /** By party whose call failed, the first error. */
  readonly failures = new Map<string, TandemError>();
  readonly #peers: readonly MaskedPeer[];
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
    this.#peers = peers.map((peer) => ({
      name: peer.name,
      maskOpen: (request) => this.#recordFailure(peer.name, peer.maskOpen(request, left(setUpMsMin))),
      maskStep: (request) => {
        const isSetUp = (request.batch ?? 0) === 0 && (request.scheme?.length ?? 0) > 0;
        return this.#recordFailure(peer.name, peer.maskStep(request, left(isSetUp ? setUpMsMin : 0)));
      },
    }));
  }

  async ask<T>(question: (peers: readonly MaskedPeer[]) => Promise<T>): Promise<T> {
    try {
      const answer = await this.#inTime(question(this.#peers));
      for (const { name } of this.#peers) this.#report(name, null);
      return answer;
    } catch (error) {
      const known =
        error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
      // No call failed, so an answer was wrong: it may be any party's.
      if (this.failures.size === 0) for (const { name } of this.#peers) this.failures.set(name, known);
      for (const [name, failure] of this.failures) this.#report(name, failure);
      throw error;
    }
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const names = this.#peers.map(({ name }) => name).join(" and ");
      const error = new TandemError("PARTY_LOST", `party ${names} did not answer in time`);
      timer = setTimeout(() => reject(error), Math.max(1, this.#timeoutMs));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #recordFailure<T>(name: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof TandemError && !this.failures.has(name)) this.failures.set(name, error);
      throw error;
    }
  }

  #report(party: string, error: TandemError | null): void {
    this.#onQuestion({ party, idCount: this.#idCount, ms: performance.now() - this.#started, error });
  }
}
