/** The finished trials of a reproduction, and the comparison of a batched trial with its unbatched twin. */
import { type TrialOutcome, type Repeat, type TrialSpec, trialName } from "./trial.ts";

export interface Pair {
  readonly batched: TrialSpec;
  readonly unbatched: TrialSpec;
}

/** A trial over all its repeats: the smallest times, and everything else, which is the same in each. */
export interface MeasuredTrial extends Repeat {
  readonly repeatCount: number;
}

export interface MeasuredPair {
  readonly batched: MeasuredTrial;
  readonly unbatched: MeasuredTrial;
  /** Batched over unbatched. */
  readonly totalFraction: number;
  readonly perTreeFraction: number;
}

export class MeasuredTrials {
  readonly #outcomes = new Map<string, readonly TrialOutcome[]>();

  add(spec: TrialSpec, outcomes: readonly TrialOutcome[]): void {
    this.#outcomes.set(trialName(spec), outcomes);
  }

  get trialCount(): number {
    return this.#outcomes.size;
  }

  /** Repeats that ended with an overflow, and all repeats. */
  get overflows(): { readonly overflowed: number; readonly repeats: number } {
    const all = [...this.#outcomes.values()].flat();
    return { overflowed: all.filter((outcome) => "overflow" in outcome).length, repeats: all.length };
  }

  /** Null if it was not trained, or overflowed. */
  trial(spec: TrialSpec): MeasuredTrial | null {
    const repeats = (this.#outcomes.get(trialName(spec)) ?? []).flatMap((outcome) =>
      "repeat" in outcome ? [outcome.repeat] : [],
    );
    if (repeats.length === 0) return null;
    return {
      ...repeats[0],
      totalSeconds: Math.min(...repeats.map(({ totalSeconds }) => totalSeconds)),
      secondsPerTree: Math.min(...repeats.map(({ secondsPerTree }) => secondsPerTree)),
      cpuSeconds: Math.min(...repeats.map(({ cpuSeconds }) => cpuSeconds)),
      repeatCount: repeats.length,
    };
  }

  pair({ batched, unbatched }: Pair): MeasuredPair | null {
    const [with_, without] = [this.trial(batched), this.trial(unbatched)];
    if (with_ === null || without === null) return null;
    return {
      batched: with_,
      unbatched: without,
      totalFraction: with_.totalSeconds / without.totalSeconds,
      perTreeFraction: with_.secondsPerTree / without.secondsPerTree,
    };
  }

  /** The commits at which the repeats were made: one, unless another version continued the reproduction. */
  get commits(): string[] {
    const commits = [...this.#outcomes.values()]
      .flat()
      .flatMap((outcome) => ("repeat" in outcome ? [outcome.repeat.commit] : []));
    return [...new Set(commits)].sort();
  }
}
