/**
 * Many hostile jobs: most of them against `tandem party`, the others against an active party. A job's number says which
 * it is, so that one of them can be run alone.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AttackedActive, type Run } from "./attacked-active.ts";
import { AttackedParty } from "./attacked-party.ts";
import { CampaignReport } from "./campaign-report.ts";
import { HostileJob } from "./hostile-job.ts";
import { direct, repeatable, type Scenario, scenarios } from "./hostile-scenarios.ts";
import { pick } from "./hostile-values.ts";

export interface CampaignOptions {
  readonly seed: number;
  /** Minimum number of jobs, and of changed messages. */
  readonly jobs: number;
  readonly messages?: number;
  /**
   * A hostile active party's job is begun again until it has changed this number of messages; default: it is begun
   * once.
   */
  readonly messagesPerJob?: number;
  /** The number of the first job; default: 1. */
  readonly from?: number;
  /** Only the job with this number. */
  readonly only?: number | undefined;
  readonly onProgress?: (report: CampaignReport) => void;
}

/** Hostile jobs between two honest ones. */
const jobsPerCheck = 25;

/** Of twenty jobs fourteen are a hostile active party's, and six a hostile passive one's: one of these is a command. */
function runOf(number: number): Run | "party" {
  const place = number % 20;
  if (place < 14) return "party";
  if (place < 19) return "in process";
  return number % 60 === 19 ? "align" : "train";
}

const hasCategories = (number: number): boolean => Math.floor(number / 20) % 2 === 1;

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const root = await mkdtemp(join(tmpdir(), "tandem-hostile-"));
  const report = new CampaignReport(options.seed);
  try {
    const sides = ["party", "active"] as const;
    await Promise.all(
      sides.flatMap((side) =>
        [false, true].map((categories) =>
          new Lane(join(root, `${side}-${categories}`), side, categories, report, options).run(),
        ),
      ),
    );
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
  report.end();
  return report;
}

/** The jobs of one kind, one after the other: a party does one thing at a time. */
class Lane {
  readonly #root: string;
  readonly #side: "party" | "active";
  readonly #categories: boolean;
  readonly #report: CampaignReport;
  readonly #options: CampaignOptions;
  #party: AttackedParty | null = null;
  #starts = 0;

  constructor(
    root: string,
    side: "party" | "active",
    categories: boolean,
    report: CampaignReport,
    options: CampaignOptions,
  ) {
    this.#root = root;
    this.#side = side;
    this.#categories = categories;
    this.#report = report;
    this.#options = options;
  }

  async run(): Promise<void> {
    const numbers = this.#numbers();
    const first = numbers.next();
    if (first.done === true) return;
    if (this.#side === "party") await this.#againstParty(first.value, numbers);
    else await this.#againstActive(first.value, numbers);
  }

  *#numbers(): Generator<number, undefined> {
    const { jobs, messages = 0, from = 1, only } = this.#options;
    // Only a hostile active party changes many messages in a job.
    const isShort = (): boolean => this.#side === "party" && this.#report.messages < messages;
    for (let number = only ?? from; number < from + jobs || isShort(); number++) {
      const isOurs = (runOf(number) === "party") === (this.#side === "party");
      if (isOurs && hasCategories(number) === this.#categories) yield number;
      if (number === only) return;
    }
  }

  async #againstParty(first: number, numbers: Iterable<number>): Promise<void> {
    await this.#attackParty(first);
    let count = 1;
    for (const number of numbers) {
      await this.#attackParty(number);
      if (++count % jobsPerCheck === 0) await this.#check(number);
    }
    const last = new HostileJob(this.#options.seed, first);
    await this.#party?.check(last);
    await this.#party?.stop(last);
    this.#report.checked(last, this.#party?.process.peakBytes() ?? 0);
  }

  async #attackParty(number: number): Promise<void> {
    this.#party ??= await AttackedParty.start(join(this.#root, String(this.#starts++)), this.#categories);
    const party = this.#party;
    const { messagesPerJob = 0 } = this.#options;
    const job = new HostileJob(this.#options.seed, number, party.pids);
    await this.#timed(job, "party", (scenario) => party.attack(job, scenario, messagesPerJob));
    // A party that fell is started again for those that come.
    if (party.process.hasEnded) this.#party = null;
  }

  async #check(number: number): Promise<void> {
    const job = new HostileJob(this.#options.seed, number);
    await this.#party?.check(job);
    this.#report.checked(job, this.#party?.process.peakBytes() ?? 0);
  }

  async #againstActive(first: number, numbers: Iterable<number>): Promise<void> {
    const active = await AttackedActive.start(this.#root, this.#categories);
    const attack = async (number: number): Promise<void> => {
      const job = new HostileJob(this.#options.seed, number);
      const run = runOf(number);
      if (run !== "party") await this.#timed(job, run, (scenario) => active.attack(job, scenario, run));
    };
    await attack(first);
    for (const number of numbers) await attack(number);
    await active.close();
    this.#report.commandPeakBytes = Math.max(this.#report.commandPeakBytes, active.peakBytes);
    for (const [word, times] of active.misled) this.#report.misled[word] = (this.#report.misled[word] ?? 0) + times;
  }

  async #timed(job: HostileJob, run: Run | "party", attack: (scenario: Scenario) => Promise<void>): Promise<void> {
    const started = performance.now();
    // The commands train or align.
    const kinds = run === "in process" ? scenarios : run === "party" ? direct : repeatable;
    await attack(pick(job.random("scenario"), kinds));
    this.#report.add(job, run, performance.now() - started);
    this.#options.onProgress?.(this.#report);
  }
}
