/**
 * A party's disk in a simulation: what was written stays, whatever happens to the processes that write. Each process of
 * the party has a view of its own, which is dead once the process is: a crashed process changes nothing any more.
 */
import { TandemError } from "../../../src/base/error.ts";
import type { Storage } from "../../../src/base/files/storage.ts";
import { MemoryDisk } from "../../support/memory-disk.ts";
import { ticks } from "./ticks.ts";

/** A process of the simulation has crashed: whatever it still does is of no consequence. */
export class Crashed extends Error {
  constructor() {
    super("this process has crashed");
  }
}

export interface WriteHooks {
  /** How many ticks of the event loop a write takes. */
  ticks(path: string, index: number): number;
  /** The write is about to happen. @throws Crashed if it never will */
  before(path: string, index: number): void;
  /** The write has happened. @throws Crashed if the process crashes before it returns */
  after(path: string, index: number): void;
}

export class SimulatedDisk {
  readonly files = new MemoryDisk();

  /** @param isDead whether the process that uses this view has crashed */
  storage(isDead: () => boolean, hooks: WriteHooks): Storage {
    const written = new Map<string, number>();
    const alive = async (): Promise<void> => {
      await ticks(1);
      if (isDead()) throw new Crashed();
    };
    const changing = async (path: string, change: () => void): Promise<void> => {
      await alive();
      const index = written.get(path) ?? 0;
      written.set(path, index + 1);
      await ticks(hooks.ticks(path, index));
      if (isDead()) throw new Crashed();
      hooks.before(path, index);
      change();
      hooks.after(path, index);
      await alive();
    };
    return {
      read: async (path) => {
        await alive();
        return this.files.bytes(path);
      },
      write: (path, contents) => changing(path, () => this.files.put(path, contents)),
      append: (path, contents) => changing(path, () => this.files.add(path, contents)),
      remove: (path) => changing(path, () => this.files.remove(path)),
      removeFolder: (path) => changing(path, () => this.files.removeFolder(path)),
      makeFolder: alive,
      list: async (folder) => {
        await alive();
        return this.files.list(folder);
      },
      size: async (path) => {
        await alive();
        return this.files.bytes(path)?.length ?? 0;
      },
      tidy: alive,
    };
  }

  file(path: string): string {
    const text = this.files.text(path);
    if (text === undefined) throw new TandemError("FILE_UNREADABLE", `the simulated disk has no ${path}`);
    return text;
  }
}
