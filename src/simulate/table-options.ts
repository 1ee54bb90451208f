/** The options of a job on one table. Command line, help and SimulateOptions are generated from these tables. */
import { TandemError } from "../base/error.ts";
import { jobSyntax } from "../base/job-name.ts";
import { type TableFormat, tableFormats } from "../data/table-reading.ts";
import { versionWords } from "../gbdt/tree/xgboost-agreement.ts";
import { parseInteractions } from "./interactions.ts";
import { commaSeparated, fraction, list, on, option, requiredText, text } from "./option-spec.ts";
import { simulateDefaults } from "./simulate-defaults.ts";

/** A party of a simulation, and the columns that it holds. */
export interface NamedColumns {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Which table, and what its columns are. */
export const columnOptions = {
  data: requiredText("<file>", "the table: .csv, .csv.gz, .parquet, or LIBSVM's text format"),
  label: requiredText("<column>", "the label, by name or position ('#3')"),
  id: text("<column>", "the id, by name or position (default: the row number)"),
  positive: text("<value>", "the label's value that counts as 1; everything else is 0"),
  classes: option<readonly string[] | undefined>({
    ...list("<names>", "the label's values in their order (default: text is sorted, as LabelEncoder does it)"),
    read: (given) => given && commaSeparated(given[0]).map((name) => name.trim()),
  }),
};

/** Who holds which rows and columns, and how files are read. */
export const partyOptions = {
  active: option<readonly string[]>({
    value: "<columns>",
    help: "the active party's features, separated by commas; '*': all columns that are not used otherwise",
    read: (given) => commaSeparated(given?.[0] ?? ""),
  }),
  passives: option<readonly (readonly string[])[]>({
    flag: "passive",
    value: "<columns>",
    help: "a passive party's features; repeat it for each party",
    isRepeated: true,
    read: (given = []) => given.map(commaSeparated),
  }),
  party: option<readonly NamedColumns[] | undefined>({
    value: "<name=columns>",
    help: "a party by name, with its features or '*'; repeat it: without --active the first one is the active party",
    isRepeated: true,
    read: (given, option) => given?.map((text) => namedColumns(text, option)),
  }),
  testFraction: fraction(
    `fraction of rows held out for testing; 0: none (default: ${simulateDefaults.testFraction})`,
    "testData",
    simulateDefaults.testFraction,
    { mayBeZero: true },
  ),
  testData: text("<file>", "a table of test rows instead"),
  validationFraction: fraction(
    "fraction of training rows held out and evaluated after every round",
    "validationData",
    undefined,
  ),
  validationData: text("<file>", "a table of validation rows instead"),
  format: option<TableFormat | undefined>({
    value: "<name>",
    help: "format of all tables (default: detected from name and first lines)",
    choices: tableFormats,
    read: (given) => given?.[0] as TableFormat | undefined,
  }),
  header: option<boolean | undefined>({
    flag: "no-header",
    help: "CSV without a header line; columns are named f0, f1, ...",
    // Not given, it is a default: the file's first line may still look like a row.
    read: (given) => (given === undefined ? undefined : false),
  }),
  missing: option<readonly string[]>({
    value: "<token>",
    help: "a cell value that means missing, in addition to empty, NA and NaN; repeat it for more",
    isRepeated: true,
    read: (given = []) => given,
  }),
  categorical: list("<columns>", "with --enable-categorical: columns of numbers that stand for categories"),
};

/** The constraints of features, by the names that a config has. */
export const constraintOptions = {
  monotone_constraints: option<Record<string, -1 | 0 | 1>>({
    value: "<list>",
    help: "features that must only raise (1) or only lower (-1) the prediction, such as 'income:1,age:-1'",
    read: (given, option) => monotoneSigns(given?.[0] ?? "", option),
  }),
  interaction_constraints: option<Record<string, string[]>>({
    value: "<list>",
    help: 'features that may split below each other, as in XGBoost: \'[["age", "income"], ["balance", "limit"]]\'',
    read: (given) => parseInteractions(given?.[0] ?? ""),
  }),
};

/** What `tandem simulate` does with the result. */
export const outcomeOptions = {
  predictions: text("<file>", "write ids, labels and predictions of the test rows, as CSV"),
  export: text("<file>", `write the model, as JSON for ${versionWords()}`),
  warmStart: text("<job>", "continue from an earlier simulation, by its name in the --records folder"),
  check: on("compare with centralised training, node by node"),
  contribution: on("report what each company's columns add: train in one place without them too"),
};

/** @throws TandemError USAGE */
function namedColumns(given: string, option: string): NamedColumns {
  const [, name, columns] = /^([^=]*)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || !jobSyntax.test(name))
    throw new TandemError(
      "USAGE",
      `${option} takes name=columns, such as retailer=visits,basket or retailer='*'; a name has letters, digits, ` +
        `dots, dashes and underscores. Got '${given}'`,
    );
  return { name, columns: commaSeparated(columns) };
}

/** @throws TandemError USAGE */
function monotoneSigns(given: string, option: string): Record<string, -1 | 0 | 1> {
  return Object.fromEntries(
    commaSeparated(given).map((part) => {
      const [, name, sign] = /^(.+):([+-]?[01])$/.exec(part.trim()) ?? [];
      if (name === undefined)
        throw new TandemError("USAGE", `${option} takes name:1, name:-1 or name:0, separated by commas; got '${part}'`);
      return [name, Math.sign(Number(sign)) as -1 | 0 | 1];
    }),
  );
}
