/**
 * The parties that deviations run against, over real TLS: in this process unless a deviation ends a process, in folders
 * that are removed at the end.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../hostile/hostile-active.ts";
import { foundHostileWorld, type HostileWorldOptions } from "../hostile/hostile-parties.ts";
import type { Company, PassiveChanges, ProcessWorld } from "../processes.ts";

export class Arena {
  readonly #root: string;
  readonly #worlds: ProcessWorld[] = [];
  #plain: Promise<Target> | null = null;
  #jobs = 0;

  /** @param root a folder of its own */
  constructor(root: string) {
    this.#root = root;
  }

  /** A new job name. */
  job(): string {
    return `cheat-${this.#jobs++}`;
  }

  /** A party with default settings, shared by all deviations. */
  plain(): Promise<Target> {
    return (this.#plain ??= this.party());
  }

  /** A bank and a shop in a new folder; nothing runs. */
  async world(options: HostileWorldOptions = {}): Promise<ProcessWorld> {
    const world = await foundHostileWorld(join(this.#root, String(this.#worlds.length)), options);
    this.#worlds.push(world);
    return world;
  }

  /** @param bank who may ask it, in place of its own partner */
  async party(changes: PassiveChanges = {}, bank?: Company): Promise<Target> {
    const world = await this.world();
    const active = bank ?? world.bank;
    const { port } = await world.start(world.shop, changes, { actives: [active] });
    return { world, bank: active, shop: world.shop, port };
  }

  async close(): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world.close()));
    await rm(this.#root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}
