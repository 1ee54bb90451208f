/**
 * Interleaved measurement. The machine is shared and its speed drifts, so compared variants are interleaved within one
 * run, and a figure is a ratio of minima; medians are reported with them.
 */

/** One thing to time: runs `units` units of work and returns something that depends on it. */
export interface Contender {
  readonly name: string;
  readonly units: number;
  readonly run: () => Promise<unknown> | unknown;
}

export interface Timing {
  /** Seconds per unit of work. */
  readonly min: number;
  readonly median: number;
}

/** CPU seconds of this process: other processes do not affect them. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * @param clock "cpu" for work whose CPU time counts, "wall" where parallel speed is the question
 */
export async function interleave(
  contenders: readonly Contender[],
  repeats: number,
  clock: "cpu" | "wall",
): Promise<Map<string, Timing>> {
  const now = clock === "cpu" ? cpuSeconds : (): number => performance.now() / 1000;
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (const { run } of contenders) await run(); // warm: tables are built, code is compiled
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const { name, units, run } of contenders) {
      const started = now();
      await run();
      samples.get(name)?.push((now() - started) / units);
    }
  }
  return new Map([...samples].map(([name, values]) => [name, timingOf(values)]));
}

function timingOf(values: readonly number[]): Timing {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)] };
}
