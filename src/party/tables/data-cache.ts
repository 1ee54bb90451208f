/** A passive party's tables in memory, read again when their file has changed: a long-lived server follows its data. */
import { CategoryBook } from "../../data/category-book.ts";
import type { FeatureReading, Notice } from "../../data/feature-columns.ts";
import { pathTitle } from "../../data/table-parts.ts";
import { sourceIn, type TableSource } from "../../data/sources/registry.ts";
import { tableVersion } from "../../data/table-source.ts";
import type { DataConfig } from "../config/data-config.ts";
import { joinParts, type JoinedTable, type TablePart } from "./joined-tables.ts";
import { type DistinctTable, readPartyTable } from "./party-data.ts";

interface Kept {
  readonly version: string | null;
  readonly table: DistinctTable;
}

export class DataCache {
  readonly #config: DataConfig;
  readonly #kept = new Map<TablePart["field"], Kept>();
  readonly #text: FeatureReading["text"];
  readonly #notice: Notice;
  readonly #book = new CategoryBook();
  /** Assembled from these files; the same object is returned until one of them has changed. */
  #joined: {
    readonly train: DistinctTable;
    readonly validation: DistinctTable | null;
    readonly table: JoinedTable;
  } | null = null;

  /** @param text what columns of text are; whether a job may have categories is seen when it begins */
  constructor(config: DataConfig, text: FeatureReading["text"] = "categories", notice: Notice = () => {}) {
    this.#config = config;
    this.#text = text;
    this.#notice = notice;
  }

  /**
   * The party's table, followed by the rows of its validation file. @throws TandemError naming file, line and column of
   * what cannot be used
   */
  async table(): Promise<JoinedTable> {
    const { path: given, validation_path: validationPath } = this.#config;
    const path = given === undefined ? "the training data" : pathTitle(given);
    const train = await this.#read("path", sourceIn(this.#config), this.#config);
    const validation =
      validationPath === undefined
        ? null
        : await this.#read(
            "validation_path",
            { path: validationPath },
            laterConfig({ ...this.#config, features: [...train.table.featureNames] }, train),
            "as trained",
          );
    if (this.#joined?.train === train && this.#joined.validation === validation) return this.#joined.table;
    const parts: TablePart[] = [{ field: "path", path, rows: train }];
    if (validation !== null) parts.push({ field: "validation_path", path: validationPath ?? "", rows: validation });
    this.#joined = { train, validation, table: joinParts(parts) };
    return this.#joined.table;
  }

  /** Rows that are predicted only, for jobs without alignment. */
  async testTable(): Promise<DistinctTable | null> {
    const path = this.#config.test_path;
    return path === undefined
      ? null
      : await this.#read(
          "test_path",
          { path },
          laterConfig(this.#config, this.#kept.get("path")?.table ?? (await this.table())),
          "as trained",
        );
  }

  async #read(
    which: TablePart["field"],
    source: TableSource,
    config: DataConfig,
    text = this.#text,
  ): Promise<DistinctTable> {
    const ofFile = await tableVersion(source);
    const version = ofFile && `${ofFile} ${JSON.stringify(config.categorical)}`;
    const kept = this.#kept.get(which);
    if (kept !== undefined && version !== null && kept.version === version) return kept.table;
    const table = await readPartyTable(source, config, null, { text, book: this.#book, notice: this.#notice });
    this.#kept.set(which, { version, table });
    return table;
  }
}

/** Whatever another file's cells look like, a feature is what it is in the first. */
function laterConfig(config: DataConfig, { table: { categories = {} } }: DistinctTable): DataConfig {
  return { ...config, categorical: Object.keys(categories) };
}
