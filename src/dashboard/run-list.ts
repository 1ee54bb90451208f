/** The runs of a viewer in a list: read once, and again only when their record has grown. */
import { join } from "node:path";
import type { Metrics } from "../party/events.ts";
import { listRuns, readRun } from "../report/run-store.ts";
import type { RunState } from "../report/run-view.ts";

export interface RunListLine {
  readonly job: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly seconds: number;
  readonly treesDone: number;
  readonly treeCount: number;
  readonly metrics: Metrics;
  /** Whether the metrics are of rows that were not trained on. */
  readonly tested: boolean;
}

/** The latest ones: a list of thousands is no list to look at. */
const runsMax = 200;

export class RunList {
  readonly #kept = new Map<string, { readonly changedAt: number; readonly line: RunListLine }>();

  async of(directory: string): Promise<RunListLine[]> {
    const lines: RunListLine[] = [];
    for (const { job, changedAt } of (await listRuns(directory)).slice(0, runsMax)) {
      const folder = join(directory, job);
      const kept = this.#kept.get(folder);
      const line = kept?.changedAt === changedAt ? kept.line : await lineOf(folder, job);
      if (line === null) continue;
      this.#kept.set(folder, { changedAt, line });
      lines.push(line);
    }
    return lines;
  }
}

async function lineOf(folder: string, job: string): Promise<RunListLine | null> {
  const run = await readRun(folder).catch(() => null);
  if (run === null) return null;
  const { view } = run;
  const test = view.result?.metrics.test ?? null;
  return {
    job,
    state: view.state,
    startedAt: view.startedAt,
    seconds: (view.lastAt - view.startedAt) / 1000,
    treesDone: view.treesDone,
    treeCount: view.treeCount,
    metrics: test ?? view.rounds[view.rounds.length - 1]?.train ?? {},
    tested: test !== null,
  };
}
