/**
 * A party's features as columns of float32 numbers, or of codes of categories: decided by the data and the owner's
 * settings.
 */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { CategoryBook } from "./category-book.ts";
import { cellNumbers, MissingTokens } from "./cell-numbers.ts";
import { categoryColumn, firstCell, firstText, hasNumber, numbersIn, textError } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";
import type { Categories, PartyTable } from "./dataset.ts";

export interface FeatureReading {
  /** Column indices in the table, and feature names. */
  readonly columns: readonly number[];
  readonly names: readonly string[];
  readonly missing: readonly string[];
  /** Features that are categorical regardless of their cells. */
  readonly categorical: readonly string[];
  /**
   * What to do with columns that have text in them: they are categorical, or refused. In a file that is read after the
   * one that was trained on, they are what they were there.
   */
  readonly text: "categories" | "refuse" | "as trained";
  readonly book: CategoryBook;
  /** Where these settings come from: the command line, unless it is a config. */
  readonly saidIn?: "options" | "config";
  /** Receives notices about the data that are not errors. */
  readonly notice?: Notice;
}

/** A notice in one sentence, with names of files and columns, never a cell. */
export type Notice = (words: string) => void;

/** The options that decide how text is read. */
export const said = {
  options: { all: "--enable-categorical", one: "--categorical", missing: "--missing" },
  config: { all: "training.enable_categorical", one: "data.categorical:", missing: "data.missing" },
} as const;

/**
 * @throws TandemError CELL_UNPARSABLE naming file, line and column; COLUMN_UNKNOWN if what is to be categorical is not
 * a feature
 */
export function featureColumns(
  table: CsvTable,
  { columns, names, missing, categorical, text, book, saidIn = "options", notice }: FeatureReading,
): Required<Pick<PartyTable, "featureNames" | "features" | "categories">> {
  const unknown = categorical.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `${table.path}: 'categorical' names '${unknown}', which is no feature${suggestion(unknown, names)}`,
    );
  const tokens = new Set(missing);
  const tokenBytes = new MissingTokens(missing);
  const categories: Record<string, Categories> = {};
  const features = names.map((name, i) => {
    const index = columns[i];
    const isNamed = categorical.includes(name);
    const cells = isNamed ? undefined : table.cellsOf?.(index);
    const plain = cells === undefined ? null : cellNumbers(cells, tokenBytes);
    const numbers = isNamed ? null : (plain ?? numbersIn(table, index, tokens));
    if (numbers !== null) return numbers;
    if (!isNamed && text !== "categories") throw textError(table, index, tokens, textAdvice(text, said[saidIn], name));
    const place = isNamed ? firstCell(table, index, tokens) : firstText(table, index, tokens);
    if (!isNamed && hasNumber(table, index, tokens)) notice?.(mixedNotice(place, said[saidIn]));
    const before = book.namesOf(name).length;
    const values = categoryColumn(table, index, tokens, book, name);
    const known = book.namesOf(name);
    categories[name] = { names: known, where: place };
    const words = categoryNotice(place, { text, isNamed, before, count: known.length });
    if (words !== null) notice?.(words);
    return values;
  });
  return { featureNames: [...names], features, categories };
}

/** Advice for text in a numeric column. */
export function textAdvice(
  text: "refuse" | "as trained",
  { all, one, missing }: (typeof said)["options" | "config"],
  name: string,
): string {
  return text === "refuse"
    ? `Take columns with text as categories (${all}), leave the column out, or name the cell as missing (${missing})`
    : "The column has nothing but numbers in the data that was trained on. Name the cell as missing " +
        `(${missing}), or take the column as categories in training too (${one} ${name})`;
}

export function mixedNotice(place: string, { missing }: (typeof said)["options" | "config"]): string {
  return (
    `${place}: the column has numbers and text, so every cell of it is a category. ` +
    `If the text means that a value is missing, name it (${missing})`
  );
}

/** Text with more categories than this is rarely a set of names. */
const categoriesUsualMax = 100;

/**
 * A notice about the categories of a column, null if there is none.
 * @param before the number of categories that were known before the file was read
 */
export function categoryNotice(
  place: string,
  {
    text,
    isNamed,
    before,
    count,
  }: {
    readonly text: FeatureReading["text"];
    readonly isNamed: boolean;
    readonly before: number;
    readonly count: number;
  },
): string | null {
  if (text === "as trained")
    return before === 0 || count === before
      ? null
      : `${place}: of the column's categories ${count - before} did not occur in the data read before. ` +
          "At a split that does not name it, a category goes left";
  return isNamed || before > 0 || count <= categoriesUsualMax
    ? null
    : `${place}: the column has ${count} categories. If they are dates, or numbers written as text, convert them to ` +
        "numbers before training";
}
