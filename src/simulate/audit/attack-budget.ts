import type { AttackClock } from "../../privacy/attack/sums.ts";
import type { Defences } from "../../privacy/defences/defences.ts";

export interface AttackTime {
  /** Total time of all attacks on sums. */
  readonly seconds: number;
  /** @param share fraction of the step that is done @param secondsLeft upper bound, for all attacks */
  readonly onProgress: (step: string, share: number, secondsLeft: number) => void;
}

/** Otherwise there is nothing to attack. */
export function sumsAreExact({ answer_noise: noise, hidden_sums: isHidden }: Defences): boolean {
  return noise === 0 && !isHidden;
}

/** Divides the time equally among the remaining jobs with exact sums, and within a job among its parties. */
export class AttackBudget {
  readonly #audit: AttackTime;
  #jobs: number;
  #left: number;

  /** @param jobs with exact sums, counting each scheme that is attacked */
  constructor(audit: AttackTime, jobs: number) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#left = audit.seconds * 1000;
  }

  report(step: string, share: number): void {
    this.#audit.onProgress(step, share, Math.max(0, this.#left) / 1000);
  }

  /** A job with exact sums. */
  jobEnded(): void {
    this.#jobs--;
  }

  clock(step: string, partiesLeft: number): AttackClock {
    const given = this.#left / Math.max(1, this.#jobs) / partiesLeft;
    const began = performance.now();
    let spent = 0;
    const note = (): void => {
      const now = performance.now() - began;
      this.#left -= now - spent;
      spent = now;
    };
    return {
      left: () => Math.max(0, given - (performance.now() - began)),
      progress: (share) => {
        note();
        this.report(step, share);
      },
    };
  }
}
