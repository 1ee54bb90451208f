/**
 * A party's rows by id, as its data is now, for scoring. Files are checked at most once a second, and read again when
 * they have changed. A program that prints the table is run once a minute in the background; its last output is used
 * until the next one is complete, so no request waits for a database.
 */
import { type Normalisation, normaliseId } from "../psi/normalise.ts";
import { TandemError } from "../base/error.ts";
import { PackedTexts } from "../base/text/packed-texts.ts";
import { TextIndex } from "../base/text/text-index.ts";
import { categoryNamesPerFeature } from "../data/dataset.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import { unknownRow } from "../protocol/passive/split-outcomes.ts";
import type { DataConfig } from "../party/config/data-config.ts";
import { DataCache } from "../party/tables/data-cache.ts";
import type { DistinctTable } from "../party/tables/party-data.ts";
import type { RowSource } from "./features/row-source.ts";
import { modelCode } from "./scoring-model.ts";

const fileAgeMsMax = 1000;
const commandAgeMsMax = 60_000;

/**
 * Rows of the training and the test table, by normalised id. An id that is in both has the row of the test table.
 */
export class RowIndex {
  readonly #index: TextIndex;
  /** The row of each text of the index. */
  readonly #rows: Uint32Array;
  readonly #columns: ReadonlyMap<string, Float32Array>;
  readonly #names: ReadonlyMap<string, CategoryNames>;
  readonly #normalisations: readonly Normalisation[];

  constructor(train: DistinctTable, test: DistinctTable | null) {
    const first = train.table.ids.length;
    this.#index = new TextIndex(PackedTexts.from(train.table.ids));
    this.#rows = new Uint32Array(first + (test?.table.ids.length ?? 0)).map((_, row) => row);
    let row = first;
    for (const id of test?.table.ids ?? []) this.#rows[this.#index.add(id).index] = row++;
    this.#columns = new Map(
      train.table.featureNames.map((name, i) => [
        name,
        test === null ? train.table.features[i] : joined(train.table.features[i], columnOf(test, name)),
      ]),
    );
    const names = categoryNamesPerFeature(train.table); // the same in the test table
    this.#names = new Map(train.table.featureNames.map((name, i) => [name, names[i]]));
    this.#normalisations = train.ids.normalisations;
  }

  /** @returns unknownRow for an id that this party does not hold */
  rowOf(id: string): number {
    const index = this.#index.indexOf(normaliseId(id, this.#normalisations));
    return index === -1 ? unknownRow : this.#rows[index];
  }

  /** @throws TandemError COLUMN_UNKNOWN */
  column(name: string): Float32Array {
    const column = this.#columns.get(name);
    if (column === undefined)
      throw new TandemError("COLUMN_UNKNOWN", `the data no longer has the feature '${name}', which the model needs`);
    return column;
  }

  /** The categories of a column of codes; null of numbers. */
  names(name: string): CategoryNames {
    return this.#names.get(name) ?? null;
  }

  /**
   * Reads rows in a model's codes.
   * @param categoryNames per feature the categories that the model splits on; null of numbers
   * @throws TandemError COLUMN_UNKNOWN
   */
  reader(features: readonly string[], categoryNames: readonly CategoryNames[]): (row: number) => Float32Array {
    const columns = features.map((name, i) => {
      const [values, names, wanted] = [this.column(name), this.names(name), categoryNames[i]];
      return (row: number): number =>
        names === null || wanted === null || Number.isNaN(values[row])
          ? values[row]
          : modelCode(names[values[row]], wanted);
    });
    return (row) => Float32Array.from(columns, (column) => column(row));
  }
}

function columnOf({ table }: DistinctTable, name: string): Float32Array {
  const index = table.featureNames.indexOf(name);
  if (index === -1)
    throw new TandemError("COLUMN_UNKNOWN", `the test table has no feature '${name}', which the training table has`);
  return table.features[index];
}

function joined(a: Float32Array, b: Float32Array): Float32Array {
  const both = new Float32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

interface Kept {
  readonly train: DistinctTable;
  readonly test: DistinctTable | null;
  readonly index: RowIndex;
}

/** The index of the party's table as it is now. */
export class CurrentRows implements RowSource {
  readonly #data: DataCache;
  readonly #isCommand: boolean;
  readonly #onTrouble: (error: unknown) => void;
  readonly #now: () => number;
  #kept: Kept | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<RowIndex> | null = null;

  /** @param onTrouble called when a program fails; its last output stays in use */
  constructor(
    config: DataConfig,
    {
      data = new DataCache(config),
      onTrouble,
      now = () => performance.now(),
    }: { readonly data?: DataCache; readonly onTrouble: (error: unknown) => void; readonly now?: () => number },
  ) {
    this.#data = data;
    this.#isCommand = config.path === undefined;
    this.#onTrouble = onTrouble;
    this.#now = now;
  }

  rows(): Promise<RowIndex> {
    return this.current();
  }

  /** Nothing is open. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** @throws TandemError naming file, line and column of what cannot be used */
  async current(): Promise<RowIndex> {
    const kept = this.#kept;
    if (kept !== null && this.#now() - this.#lookedAt < (this.#isCommand ? commandAgeMsMax : fileAgeMsMax))
      return kept.index;
    const looking = (this.#looking ??= this.#look().finally(() => (this.#looking = null)));
    if (kept === null || !this.#isCommand) return looking;
    looking.catch(this.#onTrouble);
    return kept.index;
  }

  async #look(): Promise<RowIndex> {
    try {
      const [train, test] = [await this.#data.table(), await this.#data.testTable()];
      if (this.#kept?.train !== train || this.#kept.test !== test)
        this.#kept = { train, test, index: new RowIndex(train, test) };
      return this.#kept.index;
    } finally {
      this.#lookedAt = this.#now();
    }
  }
}
