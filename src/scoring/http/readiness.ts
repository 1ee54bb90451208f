/** Whether all parties can score. They are asked at most once a second. */
import type { Scorer } from "../scorer.ts";
import type { ReadyResponse } from "./messages.ts";

const ageMsMax = 1000;
const timeoutMs = 2000;

export class Readiness {
  readonly #scorer: Pick<Scorer, "ready">;
  #asking: Promise<ReadyResponse> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(scorer: Pick<Scorer, "ready">) {
    this.#scorer = scorer;
  }

  now(): Promise<ReadyResponse> {
    if (this.#asking === null || performance.now() - this.#askedAt >= ageMsMax) {
      this.#askedAt = performance.now();
      this.#asking = this.#ask();
    }
    return this.#asking;
  }

  async #ask(): Promise<ReadyResponse> {
    const parties = (await this.#scorer.ready(timeoutMs)).map(({ party, trouble }) =>
      trouble === null
        ? { party, ready: true }
        : { party, ready: false, error: { code: trouble.code, message: trouble.message } },
    );
    return { status: parties.every((party) => party.ready) ? "ready" : "not ready", parties };
  }
}
