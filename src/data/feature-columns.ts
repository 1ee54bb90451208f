/**
 * A party's features as columns of float32 numbers, or of codes of categories: which it is follows from the data, and
 * from what the owner says of it.
 */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { CategoryBook } from "./category-book.ts";
import {
  categoryColumn,
  firstCell,
  isTextColumn,
  numericColumn,
  optionRemedies,
  type TextRemedies,
} from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";
import type { Categories, PartyTable } from "./dataset.ts";

export interface FeatureReading {
  /** Where the columns stand in the table, and what the features are called. */
  readonly columns: readonly number[];
  readonly names: readonly string[];
  readonly missing: readonly string[];
  /** Features that are categorical whatever their cells look like. */
  readonly categorical: readonly string[];
  /** What to do with columns of text: they are categorical, or refused. */
  readonly text: "categories" | "refuse";
  readonly book: CategoryBook;
  /** Where the user says all this: on the command line, unless it is a config. */
  readonly saidIn?: "options" | "config";
}

/** What to set against text in a column of numbers: where text is taken as categories, name the column. */
const remedies: Readonly<Record<"options" | "config", Readonly<Record<FeatureReading["text"], TextRemedies>>>> = {
  options: {
    refuse: optionRemedies,
    categories: { ...optionRemedies, categories: "--categorical" },
  },
  config: {
    refuse: { categories: "training.enable_categorical", missing: "data.missing" },
    categories: { categories: "data.categorical", missing: "data.missing" },
  },
};

/**
 * @throws TandemError CELL_UNPARSABLE naming file, line and column; COLUMN_UNKNOWN if what is to be categorical is not
 * a feature
 */
export function featureColumns(
  table: CsvTable,
  { columns, names, missing, categorical, text, book, saidIn = "options" }: FeatureReading,
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
    if (!categorical.includes(name) && (text === "refuse" || !isTextColumn(table, index, tokens)))
      return numericColumn(table, index, tokens, remedies[saidIn][text]);
    const values = categoryColumn(table, index, tokens, book, name);
    categories[name] = { names: book.namesOf(name), where: firstCell(table, index, tokens) };
    return values;
  });
  return { featureNames: [...names], features, categories };
}
