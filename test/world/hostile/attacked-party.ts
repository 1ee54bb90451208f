/**
 * `tandem party` as a process that hostile jobs are sent to, one after the other, and honest ones in between: these
 * must end with the model that all columns in one place make.
 */
import { create } from "@bufbuild/protobuf";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readActiveShare } from "../../../src/store/share-files.ts";
import type { ActiveMaskOpen } from "../../../src/wire/generated/tandem/v1/masked_pb.ts";
import {
  ActiveContributionsSchema,
  ActiveScoringSchema,
  ActiveTagsSchema,
  Scoring,
} from "../../../src/wire/generated/tandem/v1/scoring_pb.ts";
import { protocolVersion } from "../../../src/wire/version.ts";
import type { PassiveChanges } from "../processes.ts";
import type { TandemProcess } from "../tandem-process.ts";
import { centralisedModel, isSameJson } from "./exact-model.ts";
import { runHostileActive, type Target } from "./hostile-active.ts";
import type { Said } from "./hostile-call.ts";
import { HostileJob } from "./hostile-job.ts";
import { bankConfig, foundHostileWorld, makePeople } from "./hostile-parties.ts";
import { direct, type Scenario, trainings } from "./hostile-scenarios.ts";
import { isScoring } from "./hostile-tasks.ts";
import { SecretScanner } from "./secret-scanner.ts";

/** A party with 48 people takes some 130 MB; a flood of messages may be under way at any moment. */
export const residentBytesMax = 640 << 20;

/** Left alone, Node lets garbage grow with the machine's memory, which would hide how much a party needs. */
export const heapMegabytes = 320;

/** Hostile calls before each honest one that is aimed at, about. */
const callsBefore = 30;

/** How often a job is begun at most. */
const attemptsMax = 12;

export class AttackedParty {
  readonly process: TandemProcess;
  readonly #target: Target;
  readonly #secrets = new SecretScanner(makePeople());
  /** Of training, models that were trained in one place; of other tasks, results of the first undisturbed job. */
  readonly #expected = new Map<Scenario, unknown>();
  /** The folders of the models that scenarios ask for scores. */
  readonly #models = new Map<Scenario, string>();
  /** What honest parties have said. */
  readonly #said: Said[] = [];
  #honest = 0;

  private constructor(process: TandemProcess, target: Target) {
    this.process = process;
    this.#target = target;
  }

  /** @param root a folder of its own */
  static async start(root: string, hasCategories: boolean, changes: PassiveChanges = {}): Promise<AttackedParty> {
    const world = await foundHostileWorld(root, { hasCategories });
    const process = await world.spawn(world.shop, changes, { heapMegabytes });
    const { bank, shop } = world;
    const party = new AttackedParty(process, { world, bank, shop, port: await process.port() });
    for (const scenario of trainings.slice(0, 3)) await party.#rehearse(scenario);
    return party;
  }

  get pids(): readonly number[] {
    return this.process.child.pid === undefined ? [] : [this.process.child.pid];
  }

  get target(): Target {
    return this.#target;
  }

  /**
   * A hostile job, begun again after each attempt that ends before this number of messages was changed. What is wrong
   * about it stands in the job.
   */
  async attack(job: HostileJob, scenario: Scenario, messages: number): Promise<void> {
    const model = await this.#modelOf(scenario);
    const hostility = { elsewhere: this.#said, callsBefore };
    do {
      const finished = job.outcomes.get("finished");
      await runHostileActive(this.#target, scenario, job, hostility, model);
      job.attempt++;
      const isFinished = job.outcomes.get("finished") !== finished;
      if (isFinished || job.random("another job").below(3) === 0) job.part++;
    } while (job.messages < messages && job.attempt < attemptsMax && !this.process.hasEnded);
    this.look(job);
  }

  /** An honest job, which must end well, whatever was done to the party before. */
  async check(job: HostileJob): Promise<void> {
    await this.#rehearse(direct[this.#honest % direct.length], job);
  }

  async stop(job: HostileJob): Promise<void> {
    const { exitCode, signal } = await this.process.stop();
    if (exitCode !== 0) job.wrong.push(`the party ended with ${exitCode ?? signal} when it was asked to stop`);
    this.look(job, true);
    await this.#lookAtRecords(job);
  }

  /** What the party has said or become since the last time. */
  look(job: HostileJob, mayHaveEnded = false): void {
    const news = this.process.news();
    for (const what of this.#secrets.in(news)) job.wrong.push(`the party says ${what}: ${excerpt(news)}`);
    const refusals = [...job.refusals].join("\n");
    for (const what of this.#secrets.in(refusals)) job.wrong.push(`a refusal says ${what}: ${excerpt(refusals)}`);
    if (this.process.hasEnded && !mayHaveEnded) job.wrong.push(`the party has ended: ${news.slice(-500)}`);
    if (this.process.peakBytes() > residentBytesMax)
      job.wrong.push(`the party takes ${this.process.peakBytes() >> 20} MB`);
  }

  /** What is kept of jobs for people to look at. */
  async #lookAtRecords(job: HostileJob): Promise<void> {
    const folder = join(this.#target.shop.folder, "jobs");
    for (const name of await readdir(folder)) {
      const events = await readFile(join(folder, name, "events.jsonl"), "utf8").catch(() => "");
      for (const what of this.#secrets.in(events)) job.wrong.push(`the record of ${name} says ${what}`);
    }
  }

  /** An honest job whose messages are kept. */
  async #rehearse(scenario: Scenario, report?: HostileJob): Promise<void> {
    const honest = new HostileJob(0, 1_000_000 + this.#honest++, this.pids);
    const model = await this.#modelOf(scenario);
    const hostility = { elsewhere: [], callsBefore: 0 };
    const { said, result } = await runHostileActive(this.#target, scenario, honest, hostility, model);
    const wrong: string[] = [...honest.wrong];
    if (!honest.outcomes.has("finished")) wrong.push([...honest.outcomes.keys()].join());
    else if (!(await this.#isExact(honest, scenario, result))) wrong.push("another result than it should have");
    for (const what of wrong) (report ?? honest).wrong.push(`an honest job afterwards (${scenario.name}): ${what}`);
    if (report === undefined) {
      if (honest.wrong.length > 0) throw new Error(honest.wrong.join("; "));
      this.#said.push(...said, ...(await this.#scoring(honest, said)));
    }
    this.look(report ?? honest);
  }

  async #isExact(job: HostileJob, scenario: Scenario, result: unknown): Promise<boolean> {
    const { world, port } = this.#target;
    const isTraining = (scenario.task ?? "train") === "train";
    if (!this.#expected.has(scenario)) {
      const config = await bankConfig(world, port, job.name, scenario);
      this.#expected.set(scenario, isTraining ? await centralisedModel(config, world) : result);
    }
    return isSameJson(isTraining ? await world.model(job.name) : result, this.#expected.get(scenario));
  }

  /** Trained before the first question about it, by an honest party. */
  async #modelOf(scenario: Scenario): Promise<string> {
    if (!isScoring(scenario.task ?? "train")) return "";
    const known = this.#models.get(scenario);
    if (known !== undefined) return known;
    const { bank } = this.#target;
    const job = new HostileJob(0, 2_000_000 + this.#models.size, this.pids);
    const training = { ...scenario, task: "train" } as const;
    await runHostileActive(this.#target, training, job, { elsewhere: [], callsBefore: 0 });
    const model = join(bank.folder, "jobs", job.name);
    if (!job.outcomes.has("finished")) throw new Error(`a model to be scored: ${[...job.outcomes.keys()].join()}`);
    this.#models.set(scenario, model);
    return model;
  }

  /** The calls of scoring with this job's model. */
  async #scoring(job: HostileJob, said: readonly Said[]): Promise<Said[]> {
    const { model } = await readActiveShare(this.#target.world.path(this.#target.bank, job.name, "share.json"));
    const ids = makePeople().map(({ id }) => id);
    const { score, maskOpen, maskStep, tags, contributions } = Scoring.method;
    const masked = said.flatMap(({ method, messages }): Said[] => {
      if (method.name === maskStep.name) return [{ method: maskStep, messages }];
      if (method.name !== maskOpen.name) return [];
      return [{ method: maskOpen, messages: messages.map((message) => ({ ...(message as ActiveMaskOpen), model })) }];
    });
    return [
      { method: score, messages: [create(ActiveScoringSchema, { protocolVersion, model, ids: ids.slice(0, 9) })] },
      { method: tags, messages: [create(ActiveTagsSchema, { protocolVersion, model })] },
      {
        method: contributions,
        messages: [
          create(ActiveContributionsSchema, {
            protocolVersion,
            model,
            ids: ids.slice(0, 1),
            outputCount: 1,
            treesPerRound: 1,
            values: new Uint8Array(64),
          }),
        ],
      },
      ...masked,
    ];
  }
}

/** Lines of what a party said that have to do with it, for people; a line that is always long comes last. */
function excerpt(text: string): string {
  const isSuspect = (line: string): boolean => /INTERNAL|internal|Error: |zq|"threshold"|forged|^\s+at /.test(line);
  const lines = text.split("\n").filter(isSuspect);
  return lines
    .sort((a, b) => a.length - b.length)
    .join(" | ")
    .slice(0, 600);
}
