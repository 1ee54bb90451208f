/** A world with two models, spring and summer, which all parties have registered as credit@1 and credit@2. */
import { join } from "node:path";
import { tandemHere } from "../world/command-here.ts";
import type { Company } from "../world/processes.ts";
import type { TrainedWorld, TrainedWorlds, WorldChanges } from "./test-worlds.ts";

/** `tandem model` with a company's config. @returns what it printed, or the error */
export async function modelCommand(company: Company, command: string, ...args: string[]): Promise<string> {
  const config = company.name === "bank" ? "active-spring.json" : "passive.json";
  const { stdout, stderr } = await tandemHere("model", command, "-c", join(company.folder, config), ...args);
  return stdout + stderr;
}

export function registerCredit(company: Company, job: string): Promise<string> {
  return modelCommand(company, "register", "--model", job, "--name", "credit");
}

/** Nothing is promoted. */
export async function registeredWorld(
  worlds: TrainedWorlds,
  shopCount: number,
  changes: WorldChanges = {},
): Promise<TrainedWorld> {
  const world = await worlds.train(shopCount, changes);
  await world.train("summer", { ...changes.active, training: { ...changes.active?.training, num_round: 3 } });
  for (const company of [world.bank, ...world.shops])
    for (const job of ["spring", "summer"]) await registerCredit(company, job);
  return world;
}

/** For what takes effect within a second. */
export const soon = { timeout: 60_000, interval: 100 };
