/**
 * Three jobs of two banks that reach their shop through a relay, two at a time, each approved by a person. Processes
 * are killed at random moments, the relay's among them, while one company renews its certificate. All jobs must end
 * with the models that they have alone.
 */
import { appendFileSync, cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SeededRandom } from "../../../src/base/random.ts";
import { diskStorage } from "../../../src/base/files/storage.ts";
import { RequestDecisions } from "../../../src/party/approvals/request-decisions.ts";
import { initRelay, initRoom } from "../../../src/party/relay-files/init-relay.ts";
import { readRequests } from "../../../src/store/request-file.ts";
import { makePeople, shuffled } from "../people.ts";
import { type ActiveChanges, type Company, foundCompany, ProcessWorld } from "../processes.ts";
import { freePort, startTandem } from "../tandem-process.ts";
import { MortalProcess, pause } from "./mortal-process.ts";

const host = "127.0.0.1";
const killsPerSet = 10;
const setSecondsMax = 900;
const policy = { schemes: ["paillier", "curve"], budget: { daily: { ids: 1e9 } } };
/** Long enough that most are not over before the last kill. */
const jobs: readonly { readonly name: string; readonly of: "bank" | "rival"; readonly changes: ActiveChanges }[] = [
  { name: "spring", of: "bank", changes: { training: { num_round: 60 } } },
  { name: "summer", of: "bank", changes: { training: { num_round: 50, max_depth: 2, seed: 5 } } },
  {
    name: "winter",
    of: "rival",
    changes: { scheme: "curve", insecure_key_bits: undefined, training: { num_round: 40, subsample: 0.8 } },
  },
];

export interface SetOutcome {
  readonly failure: string | null;
  readonly kills: readonly string[];
  /** Whose certificate was replaced while jobs were under way; null: the jobs were over before. */
  readonly renewed: string | null;
  /** Commands of the active parties that ended with an error and were started again. */
  readonly errors: readonly string[];
  readonly seconds: number;
}

/** The companies, as they are before any job. */
export class RelayedCompanies {
  readonly #world: ProcessWorld;
  readonly #rival: Company;
  readonly #expected: readonly (readonly string[])[];

  private constructor(world: ProcessWorld, rival: Company, expected: readonly (readonly string[])[]) {
    this.#world = world;
    this.#rival = rival;
    this.#expected = expected;
  }

  static async found(root: string): Promise<RelayedCompanies> {
    const people = makePeople(220, "relayed");
    const world = await ProcessWorld.found(join(root, "founded"), {
      bank: { people: shuffled(people.slice(0, 200), "bank"), columns: [0, 1] },
      shop: { people: shuffled(people.slice(20), "shop"), columns: [2, 3] },
    });
    const rival = await foundCompany(world.root, "rival", { people: people.slice(10, 210), columns: [1] }, "active");
    const alone = world.copy(join(root, "alone"));
    const rivalAlone = copied(rival, alone.root);
    await alone.start(alone.shop, { policy }, { actives: [alone.bank, rivalAlone] });
    const expected = [];
    for (const { name, of, changes } of jobs) {
      const active = of === "bank" ? alone.bank : rivalAlone;
      await alone.train(name, changes, { active });
      expected.push(outputs(alone, active, name));
    }
    await alone.close();
    return new RelayedCompanies(world, rival, expected);
  }

  /** @param root of a copy of the companies, which nothing else uses */
  async run(seed: number, set: number, root: string): Promise<SetOutcome> {
    const world = this.#world.copy(root);
    const running = await RelayedJobs.start(world, copied(this.#rival, root), `relayed jobs ${seed} ${set}`);
    return running.outcome(this.#expected);
  }
}

class RelayedJobs {
  readonly #world: ProcessWorld;
  readonly #rival: Company;
  readonly #random: SeededRandom;
  readonly #configs: ReadonlyMap<string, string>;
  readonly #relay: MortalProcess;
  readonly #shop: MortalProcess;
  readonly #banks: readonly MortalProcess[];
  readonly #errors: string[] = [];
  readonly #kills: string[] = [];
  #renewed: string | null = null;

  private constructor(world: ProcessWorld, rival: Company, seed: string, configs: ReadonlyMap<string, string>) {
    this.#world = world;
    this.#rival = rival;
    this.#random = new SeededRandom(seed);
    this.#configs = configs;
    const mortal = (name: string, command: string, isJob = false): MortalProcess =>
      new MortalProcess({
        name,
        spawn: () => startTandem([command, "-c", configs.get(name) ?? ""]).child,
        onLine: (line) => appendFileSync(join(world.root, "processes.log"), `${name}: ${line}\n`),
        isEnd: (exitCode, said) => {
          if (!isJob || exitCode === null) return false;
          const isOver = exitCode === 0 || said.some((line) => line.includes("holds a finished job"));
          if (!isOver) this.#errors.push(`${name}: ${said.at(-1) ?? ""}`);
          return isOver;
        },
      });
    this.#relay = mortal("relay", "relay");
    this.#shop = mortal("shop", "party");
    this.#banks = jobs.map(({ name }) => mortal(name, "train", true));
  }

  static async start(world: ProcessWorld, rival: Company, seed: string): Promise<RelayedJobs> {
    const { bank, shop } = world;
    const [port, directory] = [await freePort(), join(world.root, "relay")];
    const relay = await initRelay({ host, port, room: bank.name, directory });
    const { lines } = await initRoom({ room: rival.name, directory });
    const text = readFileSync(relay.configPath, "utf8");
    writeFileSync(relay.configPath, text.replace("\n\nlimits:", `\n${lines}\n\nlimits:`));
    const way = ({ name }: Company, end: "active" | "passive") => ({
      url: `wss://${host}:${port}`,
      room: name,
      token_file: join(directory, `${name}.${end}.token`),
      fingerprint: relay.fingerprint,
    });
    const configs = new Map([["relay", relay.configPath]]);
    const active = [bank, rival].map((company) => ({
      name: company.name,
      fingerprint: company.fingerprint,
      relay: way(company, "passive"),
    }));
    const passive = { listen: undefined, active, policy: { ...policy, max_jobs: 2, approval: "required" as const } };
    configs.set("shop", world.writePassive(shop, passive));
    for (const { name, of, changes } of jobs) {
      const company = of === "bank" ? bank : rival;
      const passives = [{ name: shop.name, fingerprint: shop.fingerprint, relay: way(company, "active") }];
      configs.set(name, world.writeActive(name, { ...changes, passives, patience_seconds: 3600 }, { active: company }));
    }
    return new RelayedJobs(world, rival, seed, configs);
  }

  get #isOver(): boolean {
    return this.#banks.every(({ hasEnded }) => hasEnded);
  }

  async outcome(expected: readonly (readonly string[])[]): Promise<SetOutcome> {
    const began = performance.now();
    const over = new AbortController();
    const work = Promise.all([this.#kill(over.signal), this.#decide(over.signal), this.#renew(over.signal)]);
    const secondsNow = (): number => (performance.now() - began) / 1000;
    while (!this.#isOver && secondsNow() < setSecondsMax) await pause(50);
    const isLate = !this.#isOver;
    over.abort();
    const seconds = secondsNow();
    await work;
    await Promise.all([this.#relay, this.#shop, ...this.#banks].map((mortal) => mortal.end()));
    const failure = isLate ? `not at an end after ${setSecondsMax} s` : await this.#difference(expected);
    return { failure, kills: this.#kills, renewed: this.#renewed, errors: this.#errors, seconds };
  }

  async #kill(over: AbortSignal): Promise<void> {
    for (let i = 0; i < killsPerSet; i++) {
      await pause(300 + this.#random.below(2500));
      const awayMs = 100 + this.#random.below(1000);
      const bank = this.#banks[this.#random.below(this.#banks.length)];
      const [first, second] = [[this.#relay], [this.#shop], [bank], [this.#relay, this.#shop], [this.#shop, bank]][
        this.#random.below(5)
      ];
      const victims = [first, ...(second === undefined ? [] : [second])].filter(({ hasEnded }) => !hasEnded);
      if (over.aborted) return;
      this.#kills.push(...victims.map(({ name }) => name));
      await Promise.all(victims.map((victim) => victim.kill("SIGKILL", awayMs)));
    }
  }

  /** A person who looks every now and then. */
  async #decide(over: AbortSignal): Promise<void> {
    const directory = join(this.#world.shop.folder, "jobs");
    const decisions = new RequestDecisions({ party: "shop", directory, config: "0".repeat(64), days: 7 });
    for (; !over.aborted; await pause(200))
      for (const { id, standing } of await decisions.list())
        if (standing === "waiting" && this.#random.uniform() < 0.2)
          await decisions.approve(id, { who: "alice", via: "command" });
  }

  /** One company does `tandem cert renew`, `switch` and `finish`, each again until it succeeds. */
  async #renew(over: AbortSignal): Promise<void> {
    const { bank, shop } = this.#world;
    const random = new SeededRandom(`renewal ${this.#random.below(1e9)}`);
    const company = [bank, this.#rival, shop][random.below(3)];
    const ofBanks = jobs.flatMap(({ name, of }) => (company === shop || of === company.name ? [name] : []));
    const [own, partners] = company === shop ? ["shop", ofBanks] : [ofBanks[0], ["shop"]];
    const config = this.#configs.get(own) ?? "";
    const step = async (name: string): Promise<string | null> => {
      await pause(random.below(4000));
      while (!over.aborted) {
        const { exitCode, stdout } = await startTandem(["cert", name, "-c", config]).finished;
        if (exitCode === 0) return stdout;
        await pause(500);
      }
      return null;
    };
    const next = /([0-9a-f]{64})/.exec((await step("renew")) ?? "")?.[1];
    if (next === undefined) return;
    for (const partner of partners) this.#pin(partner, company, [company.fingerprint, next]);
    if ((await step("switch")) === null || this.#isOver) return;
    this.#renewed = company.name;
    // The shop shows its new certificate within seconds; the active parties drop the old pin when they have seen it.
    if (company !== shop) for (const partner of partners) this.#pin(partner, company, [next]);
    await step("finish");
  }

  #pin(config: string, { name }: Company, fingerprint: readonly string[]): void {
    const path = this.#configs.get(config) ?? "";
    const fields = JSON.parse(readFileSync(path, "utf8")) as Record<string, { name: string; fingerprint: unknown }[]>;
    for (const partner of fields["active"] ?? fields["passives"])
      if (partner.name === name) partner.fingerprint = fingerprint;
    writeFileSync(`${path}.new`, JSON.stringify(fields), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** From the same jobs alone; null: none. */
  async #difference(expected: readonly (readonly string[])[]): Promise<string | null> {
    for (const [i, { name, of }] of jobs.entries()) {
      const active = of === "bank" ? this.#world.bank : this.#rival;
      if (JSON.stringify(outputs(this.#world, active, name)) !== JSON.stringify(expected[i]))
        return `${name} has another model than alone`;
    }
    const requests = await readRequests(join(this.#world.shop.folder, "jobs"), diskStorage);
    const uses = requests.flatMap((request) => request.uses.map(({ approval }) => approval));
    return new Set(uses).size === uses.length ? null : "an approval was used twice";
  }
}

function outputs(world: ProcessWorld, active: Company, job: string): string[] {
  const own = (file: string): string => world.read(active, job, file);
  return [own("share.json"), own("predictions.csv"), world.read(world.shop, job, "share.json")];
}

function copied(company: Company, root: string): Company {
  const folder = join(root, company.name);
  cpSync(company.folder, folder, { recursive: true });
  return { ...company, folder };
}
