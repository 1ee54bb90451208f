/**
 * Rows that a source gives by id. They go through the same reading as the table that was trained on: its columns'
 * types, missing values, categories, normalised ids and rule about duplicates. So a person has the same bins, and an id
 * that the source does not hold is one that the table does not hold.
 */
import { TandemError } from "../../base/error.ts";
import { noConstraints } from "../../data/feature-constraints.ts";
import { columnIndex } from "../../data/columns.ts";
import type { FeatureLookup, FoundRows } from "../../data/lookup/lookup.ts";
import { RowBatches, type TextRow } from "../../data/query/row-batches.ts";
import type { TableSink } from "../../data/table-sink.ts";
import type { DataConfig } from "../../party/config/data-config.ts";
import { readPartyRows } from "../../party/tables/party-data.ts";
import { normaliseId } from "../../psi/normalise.ts";
import { RowIndex } from "../row-index.ts";
import { type CacheBounds, FoundRowsCache } from "./found-rows-cache.ts";
import type { RowSource, WantedColumns } from "./row-source.ts";

export interface LookupBounds {
  /** For one lookup, with all attempts. */
  readonly timeoutMs: number;
  readonly cache: CacheBounds;
}

export class LookedUpRows implements RowSource {
  readonly #data: DataConfig;
  readonly #lookup: FeatureLookup;
  readonly #timeoutMs: number;
  readonly #cache: FoundRowsCache;

  constructor(data: DataConfig, lookup: FeatureLookup, { timeoutMs, cache }: LookupBounds, now?: () => number) {
    this.#data = data;
    this.#lookup = lookup;
    this.#timeoutMs = timeoutMs;
    this.#cache = new FoundRowsCache(cache, now);
  }

  async rows(wanted: WantedColumns, ids: readonly string[], asker: string): Promise<RowIndex> {
    const { id, normalise } = this.#data;
    const names = [id, ...wanted.features];
    const scope = JSON.stringify([asker, names]);
    const found = new Map<string, readonly TextRow[]>();
    const asked: string[] = [];
    for (const one of new Set(ids.map((given) => normaliseId(given, normalise)))) {
      // No row has such an id.
      if (one === "" || /\p{Surrogate}/u.test(one)) continue;
      const kept = this.#cache.find(scope + one);
      if (kept === null) asked.push(one);
      else found.set(one, kept);
    }
    if (asked.length > 0 || ids.length === 0) {
      const rows = projected(await this.#find(asked, wanted.features), names, this.#lookup.field);
      const byId = new Map<string, TextRow[]>(asked.map((one) => [one, []]));
      for (const row of rows) byId.get(normaliseId(row[0] ?? "", normalise))?.push(row);
      for (const [one, ofOne] of byId) {
        found.set(one, ofOne);
        this.#cache.keep(scope + one, ofOne);
      }
    }
    return this.#indexOf(names, [...found.values()].flat(), wanted);
  }

  close(): Promise<void> {
    return this.#lookup.close();
  }

  async #find(ids: readonly string[], features: readonly string[]): Promise<FoundRows> {
    const { field } = this.#lookup;
    const stop = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new TandemError("FILE_UNREADABLE", `${field}: there was no answer within ${this.#timeoutMs} ms`));
        stop.abort();
      }, this.#timeoutMs);
    });
    try {
      return await Promise.race([this.#lookup.find({ ids, id: this.#data.id, features }, stop.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #indexOf(names: readonly string[], rows: readonly TextRow[], wanted: WantedColumns): Promise<RowIndex> {
    const data: DataConfig = {
      ...this.#data,
      ...noConstraints,
      features: [...wanted.features],
      categorical: [...wanted.categorical],
    };
    const stream = (sink: TableSink): ReturnType<Parameters<typeof readPartyRows>[0]> => {
      const batches = new RowBatches(`the answer of ${this.#lookup.field}`, sink);
      batches.begin(names);
      if (rows.length > 0) batches.add(rows.length, (row, column) => rows[row][column] ?? "");
      return Promise.resolve(batches.rows);
    };
    return new RowIndex(await readPartyRows(stream, data, null, { text: "as trained" }), null);
  }
}

/** Their cells in the order of `names`. @throws TandemError COLUMN_UNKNOWN */
function projected({ names: found, rows }: FoundRows, names: readonly string[], field: string): TextRow[] {
  const columns = names.map((name) => columnIndex({ path: `the answer of ${field}`, names: found }, name));
  return rows.map((row) => columns.map((column) => row[column]));
}
