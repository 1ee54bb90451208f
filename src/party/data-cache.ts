/** A passive party's tables in memory, read again when their file has changed: a long-lived server follows its data. */
import type { TableSource } from "../data/table-source.ts";
import { tableVersion } from "../data/table-source.ts";
import type { DataConfig } from "./config.ts";
import { type DistinctTable, readPartyTable, sourceOf } from "./party-data.ts";

interface Kept {
  readonly version: string | null;
  readonly table: DistinctTable;
}

export class DataCache {
  readonly #config: DataConfig;
  readonly #kept = new Map<"train" | "test", Kept>();

  constructor(config: DataConfig) {
    this.#config = config;
  }

  /** The party's table. @throws TandemError naming file, line and column of what cannot be used */
  table(): Promise<DistinctTable> {
    return this.#read("train", sourceOf(this.#config));
  }

  /** Rows that are predicted only, for jobs without alignment. */
  async testTable(): Promise<DistinctTable | null> {
    const path = this.#config.test_path;
    return path === undefined ? null : await this.#read("test", { path });
  }

  async #read(which: "train" | "test", source: TableSource): Promise<DistinctTable> {
    const version = await tableVersion(source);
    const kept = this.#kept.get(which);
    if (kept !== undefined && version !== null && kept.version === version) return kept.table;
    const table = await readPartyTable(source, this.#config, null);
    this.#kept.set(which, { version, table });
    return table;
  }
}
