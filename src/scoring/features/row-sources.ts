/** From a config to where a party's features are found when people are scored. */
import { withPackages } from "../../base/optional-package.ts";
import type { FeatureLookup } from "../../data/lookup/lookup.ts";
import type { DataConfig } from "../../party/config/data-config.ts";
import type { FeaturesConfig, ScoringConfig } from "../../party/config/scoring-config.ts";
import type { DataCache } from "../../party/tables/data-cache.ts";
import { CurrentRows } from "../row-index.ts";
import { LookedUpRows } from "./looked-up-rows.ts";
import type { RowSource } from "./row-source.ts";

/** @param table reads the party's table, and what is called when reading it again fails */
export function rowSourceOf(
  data: DataConfig,
  { features }: ScoringConfig,
  table: { readonly data: DataCache; readonly onTrouble: (error: unknown) => void },
): RowSource {
  if (features === undefined) return new CurrentRows(data, table);
  const { timeout_ms: timeoutMs, cache_seconds: seconds, cache_people: people } = features;
  return new LookedUpRows(data, lookupOf(features), { timeoutMs, cache: { seconds, people } });
}

/** Its packages are loaded with the first lookup. */
function lookupOf({ source, timeout_ms: timeoutMs }: FeaturesConfig): FeatureLookup {
  if ("postgres" in source)
    return new LaterLookup("scoring.features.postgres", ["pg", "pg-cursor"], async () => {
      const { postgresLookup } = await import("../../data/lookup/postgres-lookup.ts");
      return postgresLookup(source.postgres, timeoutMs);
    });
  if ("mysql" in source)
    return new LaterLookup("scoring.features.mysql", ["mysql2"], async () => {
      const { mysqlLookup } = await import("../../data/lookup/mysql-lookup.ts");
      return mysqlLookup(source.mysql, timeoutMs);
    });
  return new LaterLookup("scoring.features.http", [], async () => {
    const { HttpLookup } = await import("../../data/lookup/http-lookup.ts");
    return new HttpLookup(source.http);
  });
}

class LaterLookup implements FeatureLookup {
  readonly field: string;
  readonly #packages: readonly string[];
  readonly #open: () => Promise<FeatureLookup>;
  #opened: Promise<FeatureLookup> | null = null;

  constructor(field: string, packages: readonly string[], open: () => Promise<FeatureLookup>) {
    this.field = field;
    this.#packages = packages;
    this.#open = open;
  }

  async find(...asked: Parameters<FeatureLookup["find"]>): ReturnType<FeatureLookup["find"]> {
    this.#opened ??= withPackages({ feature: this.field, packages: this.#packages }, this.#open);
    return (await this.#opened).find(...asked);
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}
