/** The finished cells of a reproduction, and the comparison of a batched cell with its unbatched twin. */
import { type CellOutcome, type CellRun, type CellSpec, cellName } from "./cell.ts";

export interface Pair {
  readonly batched: CellSpec;
  readonly unbatched: CellSpec;
}

/** A cell over all its runs: the smallest times, and everything else, which is the same in each. */
export interface MeasuredCell extends CellRun {
  readonly runCount: number;
}

export interface MeasuredPair {
  readonly batched: MeasuredCell;
  readonly unbatched: MeasuredCell;
  /** Batched over unbatched. */
  readonly totalShare: number;
  readonly perTreeShare: number;
}

export class MeasuredCells {
  readonly #outcomes = new Map<string, readonly CellOutcome[]>();

  add(spec: CellSpec, outcomes: readonly CellOutcome[]): void {
    this.#outcomes.set(cellName(spec), outcomes);
  }

  get cellCount(): number {
    return this.#outcomes.size;
  }

  /** Runs that ended with an overflow, and all runs. */
  get overflows(): { readonly overflowed: number; readonly runs: number } {
    const all = [...this.#outcomes.values()].flat();
    return { overflowed: all.filter((outcome) => "overflow" in outcome).length, runs: all.length };
  }

  /** Null if it has not been run, or overflowed. */
  cell(spec: CellSpec): MeasuredCell | null {
    const runs = (this.#outcomes.get(cellName(spec)) ?? []).flatMap((outcome) =>
      "run" in outcome ? [outcome.run] : [],
    );
    if (runs.length === 0) return null;
    return {
      ...runs[0],
      totalSeconds: Math.min(...runs.map(({ totalSeconds }) => totalSeconds)),
      secondsPerTree: Math.min(...runs.map(({ secondsPerTree }) => secondsPerTree)),
      cpuSeconds: Math.min(...runs.map(({ cpuSeconds }) => cpuSeconds)),
      runCount: runs.length,
    };
  }

  pair({ batched, unbatched }: Pair): MeasuredPair | null {
    const [with_, without] = [this.cell(batched), this.cell(unbatched)];
    if (with_ === null || without === null) return null;
    return {
      batched: with_,
      unbatched: without,
      totalShare: with_.totalSeconds / without.totalSeconds,
      perTreeShare: with_.secondsPerTree / without.secondsPerTree,
    };
  }

  /** The commits at which the runs were made: one, unless a run was continued by another program. */
  get commits(): string[] {
    const runs = [...this.#outcomes.values()]
      .flat()
      .flatMap((outcome) => ("run" in outcome ? [outcome.run.commit] : []));
    return [...new Set(runs)].sort();
  }
}
