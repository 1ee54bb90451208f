/** The parties that deviations run against: `tandem party` as processes, in folders that are removed at the end. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AttackedProcess } from "../hostile/attacked-process.ts";
import type { Target } from "../hostile/hostile-active.ts";
import {
  experimentPath,
  foundParties,
  type HostileParties,
  type PassiveChanges,
  writeShopConfig,
} from "../hostile/hostile-parties.ts";

export interface PlayedParty extends Target {
  readonly process: AttackedProcess;
}

export class Arena {
  readonly #root: string;
  readonly #started: AttackedProcess[] = [];
  #plain: Promise<PlayedParty> | null = null;
  #folders = 0;
  #jobs = 0;

  /** @param root a folder of its own */
  constructor(root: string) {
    this.#root = root;
  }

  /** A new folder. */
  folder(): string {
    return join(this.#root, String(this.#folders++));
  }

  /** A new job name. */
  job(): string {
    return `cheat-${this.#jobs++}`;
  }

  /** A party with default settings, shared by all deviations. */
  plain(): Promise<PlayedParty> {
    return (this.#plain ??= this.party());
  }

  /** @param bank who may ask it, besides its own partner */
  async party(changes: PassiveChanges = {}, bank?: HostileParties["bank"]): Promise<PlayedParty> {
    const own = await foundParties(this.folder());
    const parties = bank === undefined ? own : { ...own, bank };
    const config = await writeShopConfig(parties, changes);
    const process = new AttackedProcess("party", "-c", config, "--experiment", experimentPath(config));
    this.#started.push(process);
    return { parties, process, port: await process.listening() };
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((process) => process.stop("SIGKILL")));
    await rm(this.#root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}
