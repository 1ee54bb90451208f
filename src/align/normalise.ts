/**
 * Ids as alignment compares them: text, character for character. White space around an id never counts. Further
 * normalisations are chosen by name, the same at every party. They are applied in the order of this table, in whatever
 * order they were named:
 *
 *   nfkc                 Unicode compatibility forms become the plain ones: full-width digits, ligatures, accents
 *   lowercase            Unicode lower case, the same in every locale
 *   digits               everything but the digits 0 to 9 goes: +49 (30) 123-456 becomes 4930123456
 *   strip-leading-zeros  zeros at the beginning go, but for the last character: 007 becomes 7, 000 becomes 0
 *
 * Normalising twice changes nothing. An id's value never stands in an error message.
 */
import { TandemError } from "../base/error.ts";

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
  /** For messages: where the ids come from, and the line of a row there. */
  readonly source?: string;
  readonly lineOf?: (row: number) => number;
  /** What lineOf counts. */
  readonly lineNoun?: string;
}

/** Pairs of lines that one message lists. */
const pairsShownMax = 10;

/** Normalised ids, no two the same; only `from` makes them. */
export class DistinctIds {
  readonly ids: readonly string[];
  /** The row of each id in its file. */
  readonly rows: Uint32Array;
  /** In the order of application, without repetitions: two parties compare these. */
  readonly normalisations: readonly Normalisation[];

  private constructor(ids: readonly string[], rows: Uint32Array, normalisations: readonly Normalisation[]) {
    this.ids = ids;
    this.rows = rows;
    this.normalisations = normalisations;
  }

  /**
   * @param raw one id per row
   * @throws TandemError ID_DUPLICATE naming the lines; FILE_FORMAT naming the line if an id is empty or is not Unicode
   * text
   */
  static from(raw: readonly string[], options: IdOptions = {}): DistinctIds {
    const { duplicates = "refuse", source = "ids", lineOf = (row: number) => row + 1, lineNoun = "line" } = options;
    const normalisations = normalisationNames.filter((name) => options.normalise?.includes(name));
    const where = (row: number): string => `${source}, ${lineNoun} ${lineOf(row)}`;
    const rowOf = new Map<string, number>();
    const repeated: [first: number, again: number][] = [];
    let repeatedCount = 0;
    raw.forEach((text, row) => {
      const id = normaliseId(text, normalisations);
      if (id === "")
        throw new TandemError(
          "FILE_FORMAT",
          `${where(row)}: the id is empty${text.trim() === "" ? "" : " after normalisation"}`,
        );
      // UTF-8 has no surrogates: two such ids would become one.
      if (/\p{Surrogate}/u.test(id)) throw new TandemError("FILE_FORMAT", `${where(row)}: the id is not Unicode text`);
      const first = rowOf.get(id);
      if (first === undefined || duplicates === "last") rowOf.set(id, row);
      if (first !== undefined && duplicates === "refuse" && ++repeatedCount <= pairsShownMax)
        repeated.push([first, row]);
    });
    if (repeatedCount > 0) {
      const lines = repeated.map(([first, again]) => `${lineOf(first)} and ${lineOf(again)}`).join(", ");
      const more = repeatedCount > pairsShownMax ? `, and ${repeatedCount - pairsShownMax} more` : "";
      const how = normalisations.length === 0 ? "" : ` after normalisation (${normalisations.join(", ")})`;
      throw new TandemError(
        "ID_DUPLICATE",
        `${source}: ${lineNoun}s ${lines}${more} have the same id${how}; ` +
          "remove one of each, or keep the first or the last of them",
      );
    }
    return new DistinctIds([...rowOf.keys()], Uint32Array.from(rowOf.values()), normalisations);
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

/** Applies `names` in the table's order, and trims before and after. */
export function normaliseId(text: string, names: readonly Normalisation[]): string {
  let id = text.trim();
  for (const name of normalisationNames) if (names.includes(name)) id = rules[name](id);
  // Lower case can undo a compatibility form.
  if (names.includes("nfkc") && names.includes("lowercase")) id = id.normalize("NFKC");
  return id.trim();
}
