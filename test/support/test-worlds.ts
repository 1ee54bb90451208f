/** Worlds of processes that end with the test file; and a bank and its shops with a model that they have trained. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { ActiveConfig } from "../../src/party/config/config.ts";
import { makePeople, type Person, shuffled } from "../world/people.ts";
import {
  type ActiveChanges,
  type Holding,
  type PassiveChanges,
  type ProcessWorld,
  ProcessWorlds,
} from "../world/processes.ts";
import { scratchDirectory } from "./command.ts";

export function testWorlds(): ProcessWorlds {
  const worlds = new ProcessWorlds(scratchDirectory());
  afterAll(() => worlds.close());
  return worlds;
}

export const people = makePeople(240, "scoring");

/** Shops know people 20 to 229 or fewer, the bank 0 to 199; each in an order of its own. */
export function bankAndShops(
  shopCount: number,
  all: readonly Person[] = people,
  label?: (person: Person) => string,
): Record<string, Holding> {
  const labelled = label === undefined ? all : all.map((person) => ({ ...person, label: label(person) }));
  const shops = Array.from({ length: shopCount }, (_, p): [string, Holding] => [
    `shop${p}`,
    { people: shuffled(all.slice(20 + 5 * p, 230 - 5 * p), `shop ${p}`), columns: p === 0 ? [2, 3] : [3 + p] },
  ]);
  return { bank: { people: shuffled(labelled.slice(0, 200), "bank"), columns: [0, 1] }, ...Object.fromEntries(shops) };
}

export interface WorldChanges {
  readonly active?: ActiveChanges;
  readonly passive?: PassiveChanges;
  /** The bank's label of a person, where it is another one. */
  readonly label?: (person: Person) => string;
}

/** A world whose model `spring` was trained with this config. */
export interface TrainedWorld extends ProcessWorld {
  config: ActiveConfig;
  readonly configPath: string;
}

/**
 * What makes a world's model one of three classes, of a tree per class or of one with a weight per class in each leaf.
 */
export function threeClasses(strategy: string): WorldChanges {
  const at = ({ values }: Person, column: number): number => Number(values[column] || 0);
  return {
    label: (person) => String(at(person, 0) + at(person, 2) < -0.5 ? 0 : at(person, 1) < at(person, 3) ? 1 : 2),
    active: {
      data: { positive: undefined },
      training: { objective: "multi:softprob", num_class: 3, multi_strategy: strategy, num_round: 3 },
    },
  };
}

/**
 * The trained worlds of a test file. Training is the slow part: where it is not what is tested, a world is a copy of
 * one that was trained before.
 */
export class TrainedWorlds {
  readonly #worlds = testWorlds();
  readonly #kept = new Map<number, Promise<ProcessWorld>>();

  /** A new world whose parties have just trained. */
  async train(shopCount: number, { label, active = {}, passive = {} }: WorldChanges = {}): Promise<TrainedWorld> {
    const world = await this.#worlds.found(bankAndShops(shopCount, people, label), rounds);
    const trained = await running(world, passive, active);
    await world.train("spring", active);
    return trained;
  }

  /** A world with a model, after a restart of all parties. */
  async restarted(shopCount: number, passive: PassiveChanges = {}): Promise<TrainedWorld> {
    const kept = this.#kept.get(shopCount) ?? this.#keep(shopCount);
    this.#kept.set(shopCount, kept);
    return running(this.#worlds.copy(await kept), passive);
  }

  async #keep(shopCount: number): Promise<ProcessWorld> {
    const world = await this.train(shopCount);
    await world.close();
    return world;
  }
}

const rounds = { active: { training: { num_round: 4 } } };

async function running(world: ProcessWorld, passive: PassiveChanges, active?: ActiveChanges): Promise<TrainedWorld> {
  await world.startAll(passive);
  const config = await world.activeConfig("spring", active);
  return Object.assign(world, { config, configPath: join(world.bank.folder, "active-spring.json") });
}

/** What the training job itself predicted, as text: id -> prediction. */
export function trainingPredictions(world: ProcessWorld, job = "spring"): Map<string, string> {
  return predictionsIn(world.path(world.bank, job, "predictions.csv"));
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
export function writeInput({ bank }: ProcessWorld, name: string, ids: readonly string[]): string {
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
