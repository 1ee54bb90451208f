/**
 * Ids as private set intersection compares them: text, character by character. White space around an id is ignored.
 * Further normalisations are chosen by name, the same at every party. They are applied in the order of this table,
 * whatever the order of the names:
 *
 *   nfkc                 Unicode compatibility forms become the plain ones: full-width digits, ligatures, accents
 *   lowercase            Unicode lower case, the same in every locale
 *   digits               everything but the digits 0 to 9 goes: +49 (30) 123-456 becomes 4930123456
 *   strip-leading-zeros  zeros at the beginning go, but for the last character: 007 becomes 7, 000 becomes 0
 *
 * Normalising twice changes nothing. No error message contains an id.
 */
import { basename } from "node:path";
import { TandemError } from "../base/error.ts";
import { GrowingNumbers } from "../base/growing-numbers.ts";
import { type CellColumn, cellRules } from "../base/text/cell-column.ts";
import type { PackedTexts } from "../base/text/packed-texts.ts";
import { TextIndex } from "../base/text/text-index.ts";

const rules = {
  nfkc: (id: string) => id.normalize("NFKC"),
  lowercase: (id: string) => id.toLowerCase(),
  digits: (id: string) => id.replace(/[^0-9]/g, ""),
  "strip-leading-zeros": (id: string) => id.replace(/^0+(?=\S)/, ""),
} as const;

export type Normalisation = keyof typeof rules;

/** In the order in which they are applied. */
export const normalisationNames = Object.keys(rules) as readonly Normalisation[];

/** What to do when two lines have the same id: an error, or keep one of them. */
export type DuplicateRule = "refuse" | "first" | "last";

export interface IdOptions {
  readonly normalise?: readonly Normalisation[];
  readonly duplicates?: DuplicateRule;
  /** For error messages: the source of the ids, and the line of a row there. */
  readonly source?: string;
  readonly lineOf?: (row: number) => number;
  /** What lineOf counts. */
  readonly lineNoun?: string;
  /** The file of a row, where the source has several. */
  readonly partOf?: ((row: number) => string) | undefined;
}

/** Pairs of lines that one message lists; fewer where each line needs the name of its file. */
const pairsShownMax = 10;
const pairsOfPartsMax = 3;

/** Normalised ids, no two the same; only `from` makes them. */
export class DistinctIds {
  readonly ids: PackedTexts;
  /** The row of each id in its file. */
  readonly rows: Uint32Array;
  /** In the order of application, without repetitions: two parties compare these. */
  readonly normalisations: readonly Normalisation[];

  private constructor(ids: PackedTexts, rows: Uint32Array, normalisations: readonly Normalisation[]) {
    this.ids = ids;
    this.rows = rows;
    this.normalisations = normalisations;
  }

  /**
   * @param raw one id per row
   * @throws TandemError ID_DUPLICATE naming the lines; FILE_FORMAT naming the line if an id is empty or is not Unicode
   * text
   */
  static from(raw: Iterable<string>, options: IdOptions = {}): DistinctIds {
    const collector = new IdCollector(options.normalise, options.duplicates);
    for (const text of raw) collector.add(text);
    return collector.finish(options);
  }

  /** For IdCollector, which has removed duplicates. */
  static of(ids: PackedTexts, rows: Uint32Array, normalisations: readonly Normalisation[]): DistinctIds {
    return new DistinctIds(ids, rows, normalisations);
  }

  /** The same ids for a table that has one row per id, in this order: `rows` count from 0. */
  inOwnOrder(): DistinctIds {
    return new DistinctIds(
      this.ids,
      this.rows.map((_, index) => index),
      this.normalisations,
    );
  }
}

/** Ids that come one after the other, each of the next row. */
export class IdCollector {
  readonly #normalisations: readonly Normalisation[];
  readonly #duplicates: DuplicateRule;
  /** The same normalisations of ASCII: nfkc changes none of it. */
  readonly #cellRules: number;
  readonly #index = new TextIndex();
  readonly #rows = new GrowingNumbers(Uint32Array);
  /** Rule "last": the row of the last repetition of an id. */
  readonly #laterRows = new Map<number, number>();
  readonly #repeated: [first: number, again: number][] = [];
  #repeatedCount = 0;
  #row = 0;
  #bad: { readonly row: number; readonly what: string } | null = null;

  constructor(normalise: readonly Normalisation[] = [], duplicates: DuplicateRule = "refuse") {
    this.#normalisations = normalisationNames.filter((name) => normalise.includes(name));
    this.#duplicates = duplicates;
    this.#cellRules = this.#normalisations.reduce((bits, name) => bits | (name === "nfkc" ? 0 : cellRules[name]), 0);
  }

  /** Memory of the ids, at least. */
  get sizeBytes(): number {
    return this.#index.texts.sizeBytes;
  }

  /** An invalid id is reported by `finish`. */
  add(text: string): void {
    const row = this.#row++;
    if (this.#bad !== null) return;
    const id = normaliseId(text, this.#normalisations);
    if (id === "") this.#bad = { row, what: `empty${text.trim() === "" ? "" : " after normalisation"}` };
    // UTF-8 has no surrogates: two such ids would become one.
    else if (/\p{Surrogate}/u.test(id)) this.#bad = { row, what: "not Unicode text" };
    else this.#place(id, row);
  }

  /** The same of all cells of a column. */
  addCells(cells: CellColumn): void {
    const [rowCount] = cells.shape;
    const found = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      let next = this.#index.texts.length;
      const end = this.#bad === null ? this.#index.addCells(cells, row, this.#cellRules, found) : row;
      for (; row < end; row++) {
        const isNew = found[row] === next;
        if (isNew) next++;
        this.#placed(found[row], isNew, this.#row++);
      }
      if (row < rowCount) this.add(cells.text(row));
    }
  }

  #place(id: string, row: number): void {
    const { index, isNew } = this.#index.add(id);
    this.#placed(index, isNew, row);
  }

  #placed(index: number, isNew: boolean, row: number): void {
    if (isNew) this.#rows.push(row);
    else if (this.#duplicates === "last") this.#laterRows.set(index, row);
    else if (this.#duplicates === "refuse" && ++this.#repeatedCount <= pairsShownMax) this.#repeated.push([index, row]);
  }

  /** Once. @throws TandemError as DistinctIds.from does */
  finish(options: Omit<IdOptions, "normalise" | "duplicates"> = {}): DistinctIds {
    const { source = "ids", lineOf = (row: number) => row + 1, lineNoun = "line", partOf } = options;
    if (this.#bad !== null) {
      const { row, what } = this.#bad;
      const where = `${partOf?.(row) ?? source}, ${lineNoun} ${lineOf(row)}`;
      throw new TandemError("FILE_FORMAT", `${where}: the id is ${what}`);
    }
    const rows = this.#rows.finish();
    if (this.#repeatedCount > 0) {
      const place = (row: number): string =>
        `${lineOf(row)}${partOf === undefined ? "" : ` of ${basename(partOf(row))}`}`;
      const shown = this.#repeated.slice(0, partOf === undefined ? pairsShownMax : pairsOfPartsMax);
      const lines = shown.map(([first, again]) => `${place(rows[first])} and ${place(again)}`).join(", ");
      const more = this.#repeatedCount > shown.length ? `, and ${this.#repeatedCount - shown.length} more` : "";
      const names = this.#normalisations;
      const how = names.length === 0 ? "" : ` after normalisation (${names.join(", ")})`;
      throw new TandemError(
        "ID_DUPLICATE",
        `${source}: ${lineNoun}s ${lines}${more} have the same id${how}; ` +
          "remove one of each, or keep one by 'data.duplicates: first' or 'last' in the config",
      );
    }
    for (const [index, row] of this.#laterRows) rows[index] = row;
    this.#index.texts.trim();
    return DistinctIds.of(this.#index.texts, rows, this.#normalisations);
  }
}

/** Applies `names` in the table's order, and trims before and after. */
export function normaliseId(text: string, names: readonly Normalisation[]): string {
  let id = text.trim();
  for (const name of normalisationNames) if (names.includes(name)) id = rules[name](id);
  // Lower case can undo a compatibility form.
  if (names.includes("nfkc") && names.includes("lowercase")) id = id.normalize("NFKC");
  return id.trim();
}
