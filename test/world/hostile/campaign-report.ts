/** What came of a campaign: how much was tried, how it ended, and what must not have happened. */
import type { Run } from "./attacked-active.ts";
import type { HostileJob } from "./hostile-job.ts";

export interface WrongOutcome {
  readonly job: number;
  readonly what: string;
  /** The command that does this job alone. */
  readonly replay: string;
}

export class CampaignReport {
  readonly seed: number;
  /** Hostile jobs, by whom they attacked. */
  readonly jobs: Record<Run | "party", number> = { party: 0, "in process": 0, train: 0, align: 0 };
  /** Honest jobs between them, each with the exact model. */
  honestJobs = 0;
  /** Messages with changed contents. */
  messages = 0;
  /** Calls with such messages, out of order, too often or broken off. */
  calls = 0;
  /** How calls and jobs ended, by code. */
  readonly outcomes: Record<string, number> = {};
  /** Jobs that ended well with another model, by what a passive party said of its own columns. */
  readonly misled: Record<string, number> = {};
  slowest = { job: 0, ms: 0 };
  slowestCall = { job: 0, what: "", ms: 0 };
  partyPeakBytes = 0;
  commandPeakBytes = 0;
  seconds = 0;
  readonly wrong: WrongOutcome[] = [];
  readonly #started = performance.now();

  constructor(seed: number) {
    this.seed = seed;
  }

  get jobCount(): number {
    return Object.values(this.jobs).reduce((sum, count) => sum + count, 0);
  }

  add(job: HostileJob, run: Run | "party", ms: number): void {
    this.jobs[run]++;
    this.messages += job.messages;
    this.calls += job.calls;
    for (const [outcome, times] of job.outcomes) this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + times;
    if (job.slowest.ms > this.slowestCall.ms) this.slowestCall = { job: job.number, ...job.slowest };
    if (ms > this.slowest.ms) this.slowest = { job: job.number, ms: Math.round(ms) };
    this.#blame(job);
  }

  /** An honest job in between. */
  checked(job: HostileJob, peakBytes: number): void {
    this.honestJobs++;
    this.partyPeakBytes = Math.max(this.partyPeakBytes, peakBytes);
    this.#blame(job);
  }

  end(): void {
    this.seconds = Math.round((performance.now() - this.#started) / 1000);
  }

  #blame(job: HostileJob): void {
    for (const what of new Set(job.wrong)) {
      const replay = `npm run swarm -- --hostile --seed ${job.seed} --only ${job.number}`;
      this.wrong.push({ job: job.number, what, replay });
    }
  }
}
