import type { AttackClock } from "../../privacy/attack/sums.ts";

export interface AttackTime {
  /** For attacks on sums, all together. */
  readonly seconds: number;
  /** @param share of the step that is done @param secondsLeft at most, of all attacks */
  readonly onProgress: (step: string, share: number, secondsLeft: number) => void;
}

/** Hands out the time: the same for every job that is left, and within a job for every party. */
export class AttackBudget {
  readonly #audit: AttackTime;
  #jobs: number;
  #left: number;

  constructor(audit: AttackTime, jobs: number) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#left = audit.seconds * 1000;
  }

  tell(step: string, share: number): void {
    this.#audit.onProgress(step, share, Math.max(0, this.#left) / 1000);
  }

  jobEnded(): void {
    this.#jobs--;
  }

  clock(step: string, partiesLeft: number): AttackClock {
    const given = this.#left / this.#jobs / partiesLeft;
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
        this.tell(step, share);
      },
    };
  }
}
