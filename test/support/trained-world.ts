/** A bank and its shops, in folders of their own, with a model that they have trained together. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ActiveConfig, ActiveConfigInput, PassiveConfigInput } from "../../src/party/config/config.ts";
import { runActive } from "../../src/party/active/run.ts";
import {
  activeConfig,
  type Company,
  copyCompany,
  foundCompany,
  makePeople,
  type Person,
  type RunningParty,
  shuffled,
  startParty,
} from "./companies.ts";

export const people = makePeople(240, "scoring");

export interface TrainedWorld {
  readonly bank: Company;
  readonly shops: readonly Company[];
  readonly parties: readonly RunningParty[];
  readonly config: ActiveConfig;
  readonly configPath: string;
}

export interface WorldChanges {
  readonly active?: Partial<ActiveConfigInput>;
  readonly passive?: Partial<PassiveConfigInput>;
  /** The bank's label of a person, where it is another one. */
  readonly label?: (person: Person) => string;
}

/**
 * What makes a world's model one of three classes, of a tree per class or of one with a weight per class in each leaf.
 */
export function threeClasses(strategy: string): WorldChanges {
  const at = ({ values }: Person, column: number): number => Number(values[column] || 0);
  return {
    label: (person) => String(at(person, 0) + at(person, 2) < -0.5 ? 0 : at(person, 1) < at(person, 3) ? 1 : 2),
    active: {
      data: { path: "data.csv", id: "id", features: "all", label: "outcome", positive: undefined },
      training: {
        objective: "multi:softprob",
        num_class: 3,
        multi_strategy: strategy,
        num_round: 3,
        max_depth: 3,
        max_bin: 8,
      },
    },
  };
}

/**
 * The worlds of a test file. Training is the slow part: where it is not what is tested, a world is a copy of one that
 * was trained before.
 */
export class TrainedWorlds {
  readonly #root: string;
  readonly #kept = new Map<number, Promise<Pick<TrainedWorld, "bank" | "shops">>>();
  #count = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** A new world whose parties have just trained. */
  train(shopCount: number, changes: WorldChanges = {}): Promise<TrainedWorld> {
    return trainedWorld(this.#newFolder(), shopCount, onTestFinished, changes);
  }

  /** A world with a model, after a restart of all parties. */
  async restarted(shopCount: number, passive: Partial<PassiveConfigInput> = {}): Promise<TrainedWorld> {
    const kept = this.#kept.get(shopCount) ?? this.#keep(shopCount);
    this.#kept.set(shopCount, kept);
    const folder = this.#newFolder();
    const { bank, shops } = await kept;
    return running(
      copyCompany(bank, folder),
      shops.map((shop) => copyCompany(shop, folder)),
      passive,
      onTestFinished,
    );
  }

  async #keep(shopCount: number): Promise<Pick<TrainedWorld, "bank" | "shops">> {
    const { bank, shops, parties } = await trainedWorld(this.#newFolder(), shopCount, () => {});
    await Promise.all(parties.map((party) => party.stop()));
    return { bank, shops };
  }

  #newFolder(): string {
    return join(this.#root, `world-${this.#count++}`);
  }
}

type AtEnd = (stop: () => Promise<void>) => void;

/** Shops know people 20 to 229 or fewer, the bank 0 to 199; each in an order of its own. */
async function trainedWorld(
  folder: string,
  shopCount: number,
  atEnd: AtEnd,
  { label, active, passive = {} }: WorldChanges = {},
): Promise<TrainedWorld> {
  const labelled = label === undefined ? people : people.map((person) => ({ ...person, label: label(person) }));
  const bank = await foundCompany(folder, "bank", shuffled(labelled.slice(0, 200), "bank"), [0, 1], true);
  const shops: Company[] = [];
  for (let p = 0; p < shopCount; p++) {
    shops.push(
      await foundCompany(
        folder,
        `shop${p}`,
        shuffled(people.slice(20 + 5 * p, 230 - 5 * p), `shop ${p}`),
        p === 0 ? [2, 3] : [3 + p],
      ),
    );
  }
  const world = await running(bank, shops, passive, atEnd, active);
  await runActive(world.config, () => {});
  return world;
}

async function running(
  bank: Company,
  shops: readonly Company[],
  passive: Partial<PassiveConfigInput>,
  atEnd: AtEnd,
  active: Partial<ActiveConfigInput> = {},
): Promise<TrainedWorld> {
  const parties = await Promise.all(shops.map((shop) => startParty(shop, [bank], passive, atEnd)));
  const config = await configFor({ bank, shops, parties }, "spring", active);
  return { bank, shops, parties, config, configPath: join(bank.folder, "active-spring.json") };
}

export function configFor(
  { bank, shops, parties }: Pick<TrainedWorld, "bank" | "shops" | "parties">,
  job: string,
  changes: Partial<ActiveConfigInput> = {},
): Promise<ActiveConfig> {
  return activeConfig(
    bank,
    shops.map((company, i) => ({ company, party: parties[i] })),
    job,
    { training: { num_round: 4, max_depth: 3, max_bin: 8 }, ...changes },
  );
}

/** What the training job itself predicted, as text: id -> prediction. */
export function trainingPredictions({ bank }: Pick<TrainedWorld, "bank">, job = "spring"): Map<string, string> {
  return predictionsIn(join(bank.folder, "jobs", job, "predictions.csv"));
}

/** id -> prediction; of several classes all of them, separated by commas. */
export function predictionsIn(path: string): Map<string, string> {
  const [header, ...rows] = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const isPrediction = header.map((name) => name.startsWith("prediction"));
  return new Map(
    rows.map((row) => [row[header.indexOf("id")], row.filter((_, column) => isPrediction[column]).join(",")]),
  );
}

/** The bank's rows of these ids, without the label, with a column that no model knows, in a file of its own. */
export function writeInput({ bank }: Pick<TrainedWorld, "bank">, name: string, ids: readonly string[]): string {
  const [, ...rows] = readFileSync(join(bank.folder, "data.csv"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const byId = new Map(rows.map(([id, a, b]) => [id, [a, b]]));
  const path = join(bank.folder, name);
  const lines = ids.map((id) => {
    const [a, b] = byId.get(id) ?? ["", ""];
    return [b, "x", id, a].join(",");
  });
  writeFileSync(path, `bank_1,note,id,bank_0\n${lines.join("\n")}\n`);
  return path;
}
