/**
 * An active party that trains with a hostile passive one: in this process, for the number of jobs, or as the commands
 * `tandem train` and `tandem align`. It must refuse with a code, or end with the exact model.
 */
import { join } from "node:path";
import { realWorld } from "../../../src/party/active/world.ts";
import { TandemError } from "../../../src/base/error.ts";
import type { PartyEvent } from "../../../src/record/events.ts";
import { noNotes } from "../../../src/record/job-record.ts";
import { readActiveShare } from "../../../src/store/share-files.ts";
import type { ProcessWorld } from "../processes.ts";
import { TandemProcess } from "../tandem-process.ts";
import { heapMegabytes, residentBytesMax } from "./attacked-party.ts";
import { centralisedModel, isSameJson } from "./exact-model.ts";
import { type Aim, HostileAnswers } from "./hostile-answers.ts";
import { HostileJob, outcomeOf } from "./hostile-job.ts";
import { bankConfig, foundHostileWorld, makePeople } from "./hostile-parties.ts";
import { type HostilePassive, startHostilePassive } from "./hostile-passive.ts";
import type { Scenario } from "./hostile-scenarios.ts";
import { isScoring, longMs, perform, shortMs } from "./hostile-tasks.ts";
import { pick } from "./hostile-values.ts";
import { SecretScanner } from "./secret-scanner.ts";
import { outcomeUnlessStalled, watchForStall } from "./stall-watch.ts";

/** What an undisturbed job of a kind is like. */
interface Known {
  readonly calls: readonly Aim[];
  readonly result: unknown;
  /** The folder of the model that is asked for scores. */
  readonly model: string;
}

/** How a job ended, and its result where it ended well. */
interface Ended {
  readonly outcome: string;
  readonly result: unknown;
  /** Why it failed. */
  readonly message?: string | undefined;
}

/** As a function of this process, or as a command. */
export type Run = "in process" | "train" | "align";

/**
 * Statements of a passive party about its own columns and ids cannot be checked by others: that it holds an id, on
 * which side of its split an instance is, its sums. False ones change models and scores, as wrong values in a column
 * do.
 */
const ownWords = [
  "PassiveSplit.left_members",
  "PassiveRemaskedIds.points",
  "PassiveMaskedIds.points",
  "PassiveOutcomes.left",
  "PassiveTags.tags",
  "PassiveMaskOpened.scheme",
  "PassiveMaskStep.scheme",
  "PassiveMaskStep.known",
  "PassiveHello.feature_count",
  "PassiveReady.groups",
].concat(["scheme", "counts", "suppressed", "groups"].map((field) => `PassiveHistograms.${field}`));

export class AttackedActive {
  readonly #world: ProcessWorld;
  readonly #passive: HostilePassive;
  readonly #secrets = new SecretScanner(makePeople());
  /** By the name of the scenario, and whether ids are aligned. */
  readonly #known = new Map<string, Known>();
  peakBytes = 0;
  /** Jobs that ended well with another model, by the word that did it. */
  readonly misled = new Map<string, number>();

  private constructor(world: ProcessWorld, passive: HostilePassive) {
    this.#world = world;
    this.#passive = passive;
  }

  /** @param root a folder of its own */
  static async start(root: string, hasCategories: boolean): Promise<AttackedActive> {
    const world = await foundHostileWorld(root, { hasCategories });
    return new AttackedActive(world, await startHostilePassive(await world.passiveConfig(world.shop)));
  }

  async close(): Promise<void> {
    await this.#passive.close();
  }

  async attack(job: HostileJob, given: Scenario, run: Run): Promise<void> {
    const scenario = run === "in process" ? given : { ...given, align: true };
    const { calls, result: expected, model } = await this.#undisturbed(scenario);
    const random = job.random("aims");
    const aims = Array.from({ length: 1 + random.below(2) }, () => pick(random, calls));
    this.#passive.answers = new HostileAnswers(job, aims);
    const { outcome, result } =
      run === "in process" ? await this.#here(job, scenario, model) : await this.#command(job, scenario, run);
    this.#passive.answers = null;
    job.ended("the job", outcome);
    if (outcome !== "finished" || run === "align" || isSameJson(result, expected)) return;
    const word = job.done.find((what) => ownWords.some((own) => what.startsWith(own)));
    if (word === undefined) job.wrong.push(`another result than it should have, after ${job.done.join(", ")}`);
    else this.misled.set(word, (this.misled.get(word) ?? 0) + 1);
  }

  /** Once per kind of job: its calls, and its result. Trees are those of a job in one place. */
  async #undisturbed(scenario: Scenario): Promise<Known> {
    const key = `${scenario.name} ${scenario.align}`;
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const { task = "train" } = scenario;
    const model = isScoring(task) ? await this.#modelOf(scenario) : "";
    const job = new HostileJob(0, 1_000_000 + this.#known.size);
    const answers = new HostileAnswers(job, []);
    this.#passive.answers = answers;
    const { outcome, result, message } = await this.#here(job, scenario, model, true);
    if (outcome !== "finished")
      throw new Error(`an undisturbed job (${scenario.name}) ends with ${outcome}: ${message}`);
    const config = await bankConfig(this.#world, this.#passive.port, job.name, scenario);
    if (task === "train") {
      const stored = await this.#world.model(job.name);
      if (!isSameJson(stored, await centralisedModel(config, this.#world)))
        throw new Error(`an undisturbed job (${scenario.name}) makes another model than in one place`);
    }
    const known = { calls: answers.calls, result, model };
    this.#known.set(key, known);
    return known;
  }

  async #modelOf(scenario: Scenario): Promise<string> {
    const job = new HostileJob(0, 2_000_000 + this.#known.size);
    this.#passive.answers = null;
    const { outcome } = await this.#here(job, { ...scenario, task: "train" }, "", true);
    if (outcome !== "finished") throw new Error(`a model to be scored (${scenario.name}) ends with ${outcome}`);
    return this.#folder(job);
  }

  async #here(job: HostileJob, scenario: Scenario, model: string, isHonest = false): Promise<Ended> {
    const config = await bankConfig(this.#world, this.#passive.port, job.name, scenario);
    const events: PartyEvent[] = [];
    const stall = watchForStall([]);
    const means = {
      world: { ...realWorld, notes: () => noNotes },
      emit: (event: PartyEvent) => {
        stall.moved();
        events.push(event);
      },
      model,
      patienceMs: isHonest ? longMs : shortMs,
    };
    let result: unknown;
    let message: string | undefined;
    const work = async (): Promise<void> => {
      try {
        result = await perform(scenario.task ?? "train", config, means);
      } catch (error) {
        message = String(error);
        if (error instanceof TandemError && error.code !== "INTERNAL") this.#look(job, error.message);
        else job.wrong.push(`the active party fails: ${error instanceof Error ? error.stack : String(error)}`);
        throw error;
      }
    };
    const outcome = await outcomeUnlessStalled(stall, work, outcomeOf);
    this.#look(job, JSON.stringify(events));
    // That the other side has a bug is its own word: it may lie about that as well.
    return { outcome: outcome === "INTERNAL" ? "PARTY_LOST" : outcome, result, message };
  }

  async #command(job: HostileJob, scenario: Scenario, command: "train" | "align"): Promise<Ended> {
    const config = join(this.#world.bank.folder, `active-${job.name}.json`);
    await bankConfig(this.#world, this.#passive.port, job.name, scenario);
    const process = new TandemProcess([command, "-c", config], { heapMegabytes });
    const stall = watchForStall([process.child.pid ?? 0]);
    stall.signal.addEventListener("abort", () => void process.stop("SIGKILL"));
    const { exitCode, signal } = await process.finished;
    stall.end();
    this.peakBytes = Math.max(this.peakBytes, process.peakBytes());
    if (process.peakBytes() > residentBytesMax) job.wrong.push(`it takes ${process.peakBytes() >> 20} MB`);
    this.#look(job, process.output);
    if (exitCode === 0) {
      const share = join(this.#folder(job), "share.json");
      return { outcome: "finished", result: command === "align" ? null : (await readActiveShare(share)).trees };
    }
    const code = /^error: .*\(([A-Z_]+)\)$/m.exec(process.output)?.[1];
    if (exitCode === 2 && code !== undefined) return { outcome: code, result: null };
    job.wrong.push(`${command} ends with ${exitCode ?? signal}: ${process.output.slice(-500)}`);
    return { outcome: signal === "SIGKILL" ? "hang" : "INTERNAL", result: null };
  }

  #look(job: HostileJob, text: string): void {
    for (const what of this.#secrets.in(text)) job.wrong.push(`the active party says ${what}: ${text.slice(0, 600)}`);
  }

  #folder(job: HostileJob): string {
    return join(this.#world.bank.folder, "jobs", job.name);
  }
}
