/** A passive party's tables in memory, read again when their file has changed: a long-lived server follows its data. */
import { CategoryBook } from "../data/category-book.ts";
import type { FeatureReading } from "../data/feature-columns.ts";
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
  readonly #text: FeatureReading["text"];
  readonly #book = new CategoryBook();

  /** @param text what columns of text are; whether a job may have categories is seen when it begins */
  constructor(config: DataConfig, text: FeatureReading["text"] = "categories") {
    this.#config = config;
    this.#text = text;
  }

  /** The party's table. @throws TandemError naming file, line and column of what cannot be used */
  table(): Promise<DistinctTable> {
    return this.#read("train", sourceOf(this.#config), this.#config);
  }

  /** Rows that are predicted only, for jobs without alignment. */
  async testTable(): Promise<DistinctTable | null> {
    const path = this.#config.test_path;
    if (path === undefined) return null;
    // Whatever the test cells look like, a feature is what it is in the other table.
    const { table } = this.#kept.get("train")?.table ?? (await this.table());
    const categorical = Object.keys(table.categories ?? {});
    return this.#read("test", { path }, { ...this.#config, categorical }, "refuse");
  }

  async #read(which: "train" | "test", source: TableSource, config: DataConfig, text = this.#text): Promise<DistinctTable> {
    const ofFile = await tableVersion(source);
    const version = ofFile && `${ofFile} ${JSON.stringify(config.categorical)}`;
    const kept = this.#kept.get(which);
    if (kept !== undefined && version !== null && kept.version === version) return kept.table;
    const table = await readPartyTable(source, config, null, { text, book: this.#book });
    this.#kept.set(which, { version, table });
    return table;
  }
}
