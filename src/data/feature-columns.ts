/**
 * A party's features as columns of float32 numbers, or of codes of categories: which it is follows from the data, and
 * from what the owner says of it.
 */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { CategoryBook } from "./category-book.ts";
import { categoryColumn, firstCell, firstText, hasNumber, numbersIn, textError } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";
import type { Categories, PartyTable } from "./dataset.ts";

export interface FeatureReading {
  /** Where the columns stand in the table, and what the features are called. */
  readonly columns: readonly number[];
  readonly names: readonly string[];
  readonly missing: readonly string[];
  /** Features that are categorical whatever their cells look like. */
  readonly categorical: readonly string[];
  /**
   * What to do with columns that have text in them: they are categorical, or refused. In a file that is read after
   * the one that was trained on, they are what they were there.
   */
  readonly text: "categories" | "refuse" | "as trained";
  readonly book: CategoryBook;
  /** Where the user says all this: on the command line, unless it is a config. */
  readonly saidIn?: "options" | "config";
  /** Hears what the owner should know of the data, though nothing is wrong with it. */
  readonly notice?: Notice;
}

/** Says something in one sentence: names of files and columns, and never a cell. */
export type Notice = (words: string) => void;

/** What the user writes to say how text is meant. */
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
  const categories: Record<string, Categories> = {};
  const features = names.map((name, i) => {
    const index = columns[i];
    const isNamed = categorical.includes(name);
    const numbers = isNamed ? null : numbersIn(table, index, tokens);
    if (numbers !== null) return numbers;
    if (!isNamed && text !== "categories") throw textError(table, index, tokens, textAdvice(text, said[saidIn], name));
    const place = isNamed ? firstCell(table, index, tokens) : firstText(table, index, tokens);
    if (!isNamed && hasNumber(table, index, tokens)) notice?.(mixedNotice(place, said[saidIn]));
    const values = categoryColumn(table, index, tokens, book, name);
    categories[name] = { names: book.namesOf(name), where: place };
    return values;
  });
  return { featureNames: [...names], features, categories };
}

/** Against text where there may be numbers only. */
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
