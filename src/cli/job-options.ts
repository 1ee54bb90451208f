/** The options that describe a job on one table, shared by `simulate` and `estimate`. */
import { namesTaking } from "../gbdt/objective/objectives.ts";
import { type Command, Option } from "commander";
import { TandemError } from "../base/error.ts";
import { type RowColumnName, rowColumnNamed, rowColumnNames } from "../base/rows/row-columns.ts";
import { aliasesOf, describeBounds, type ParameterSpec } from "../base/parameters/parameters.ts";
import { jobSectionNames, jobSections, mapSections, secureKeyBits } from "../protocol/job.ts";
import type { GivenJob } from "../party/resolve-job.ts";
import { type TableFormat, tableFormats } from "../data/table-reading.ts";
import { schemeOption } from "./scheme-options.ts";
import { parseInteractions } from "../simulate/interactions.ts";
import { simulateDefaults } from "../simulate/simulate-defaults.ts";
import type { SimulateOptions } from "../simulate/simulate-options.ts";

export interface JobFlags {
  readonly data: string;
  readonly id?: string;
  readonly label: string;
  readonly positive?: string;
  readonly classes?: string;
  readonly active?: string;
  readonly passive?: string[];
  readonly testFraction?: string;
  readonly testData?: string;
  readonly validationFraction?: string;
  readonly validationData?: string;
  readonly format?: TableFormat;
  readonly header?: boolean;
  readonly missing?: string[];
  readonly monotoneConstraints?: string;
  readonly interactionConstraints?: string;
  readonly categorical?: string;
  readonly scheme?: string;
  readonly keyBits?: string;
  readonly insecureKeyBits?: string;
  readonly [parameter: string]: unknown;
}

/** @param isRequired whether a table and its label must be named */
export function addJobOptions(command: Command, isRequired = true): Command {
  command.optionsGroup("Data:");
  for (const [flags, description] of [
    ["--data <file>", "the table: .csv, .csv.gz, .parquet, or LIBSVM's text format"],
    ["--label <column>", "the label, by name or position ('#3')"],
  ])
    command.addOption(new Option(flags, description).makeOptionMandatory(isRequired));
  command
    .option("--id <column>", "the id, by name or position (default: the row number)")
    .option("--positive <value>", "the label's value that counts as 1; everything else is 0")
    .option(
      "--classes <names>",
      "the label's values in their order (default: text is sorted, as LabelEncoder does it)",
    );
  for (const name of rowColumnNames) command.option(`--${flagOf(name)} <column>`, rowColumnHelp(name));
  command
    .option("--active <columns>", "the active party's features, separated by commas")
    .option("--passive <columns>", "a passive party's features; repeat it for each party", collect)
    .option("--test-fraction <number>", `rows held back for testing (default: ${simulateDefaults.testFraction})`)
    .option("--test-data <file>", "a second table to test on instead")
    .option("--validation-fraction <number>", "training rows to evaluate after every round, not to learn from")
    .option("--validation-data <file>", "a second table to evaluate after every round instead")
    .addOption(
      new Option("--format <name>", "of all tables (default: by their names and first lines)").choices(tableFormats),
    )
    .option("--no-header", "CSV: the first line is a row already; columns are named f0, f1, ...")
    .option("--missing <token>", "a cell that means missing, besides empty, NA and NaN; repeat it for more", collect)
    .option(
      "--monotone-constraints <list>",
      "features that must only raise (1) or only lower (-1) the prediction, such as 'income:1,age:-1'",
    )
    .option(
      "--interaction-constraints <list>",
      'features that may split below each other, as in XGBoost: \'[["age", "income"], ["balance", "limit"]]\'',
    )
    .option("--categorical <columns>", "with --enable-categorical: columns of numbers that stand for categories")
    .optionsGroup("Encryption:")
    .addOption(schemeOption())
    .option("--key-bits <bits>", `length of the Paillier key, 2048 to 4096 bits (default: ${secureKeyBits})`)
    .option("--insecure-key-bits <bits>", "a shorter key, from 128, for experiments only");
  for (const section of jobSectionNames) {
    const title = `${section[0].toUpperCase()}${section.slice(1)}:`;
    addParameters(command.optionsGroup(title), jobSections[section]);
  }
  return command.optionsGroup("Options:");
}

function addParameters(command: Command, table: Readonly<Record<string, ParameterSpec>>): void {
  for (const [name, spec] of Object.entries(table)) {
    command.addOption(parameterOption(name, spec));
    // What a preset turns on must be possible to turn off.
    if (spec.kind === "switch" && spec.defaultOf !== undefined)
      command.addOption(new Option(`--no-${flagOf(name)}`, `do not ${spec.help}`));
    for (const alias of aliasesOf(spec))
      command.addOption(new Option(`--${flagOf(alias)} <value>`, `the same as --${flagOf(name)}`));
  }
}

/** @throws TandemError USAGE for options that contradict each other */
export function jobFrom(flags: JobFlags): Omit<SimulateOptions, "check" | "onEvent"> {
  if (flags.testFraction !== undefined && flags.testData !== undefined) {
    throw new TandemError("USAGE", "--test-fraction and --test-data exclude each other");
  }
  const testFraction = Number(flags.testFraction ?? simulateDefaults.testFraction);
  if (!(testFraction > 0 && testFraction < 1))
    throw new TandemError("USAGE", `--test-fraction must lie between 0 and 1; got '${flags.testFraction}'`);
  return {
    data: flags.data,
    id: flags.id,
    label: flags.label,
    positive: flags.positive,
    classes: flags.classes === undefined ? undefined : columnList(flags.classes).map((name) => name.trim()),
    rowColumns: Object.fromEntries(rowColumnNames.flatMap((name) => textFlag(flags, name))),
    active: columnList(flags.active ?? ""),
    passives: (flags.passive ?? []).map(columnList),
    testFraction,
    testData: flags.testData,
    validationFraction: validationFraction(flags),
    validationData: flags.validationData,
    format: flags.format,
    // Not given, it is a default: the file's first line may still look like a row.
    header: flags.header === false ? false : undefined,
    missing: flags.missing ?? [],
    categorical: columnList(flags.categorical ?? ""),
    job: {
      ...mapSections((section) => given(flags, jobSections[section])),
      scheme: flags.scheme,
      ...keySize(flags),
      constraints: {
        monotone_constraints: monotoneSigns(flags.monotoneConstraints ?? ""),
        interaction_constraints: parseInteractions(flags.interactionConstraints ?? ""),
      },
    },
  };
}

/** @throws TandemError USAGE */
function validationFraction({ validationFraction: given, validationData }: JobFlags): number | undefined {
  if (given === undefined) return undefined;
  if (validationData !== undefined)
    throw new TandemError("USAGE", "--validation-fraction and --validation-data exclude each other");
  const fraction = Number(given);
  if (fraction > 0 && fraction < 1) return fraction;
  throw new TandemError("USAGE", `--validation-fraction must lie between 0 and 1; got '${given}'`);
}

function keySize({ keyBits, insecureKeyBits }: JobFlags): Pick<GivenJob, "keyBits" | "insecureKeyBits"> {
  const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  return { keyBits: number(keyBits), insecureKeyBits: number(insecureKeyBits) };
}

/** `num_round` is --num-round on the command line and numRound in commander's result. */
export function parameterOption(name: string, spec: ParameterSpec): Option {
  const flag = flagOf(name);
  if (spec.kind === "switch")
    return spec.default ? new Option(`--no-${flag}`, `do not ${spec.help}`) : new Option(`--${flag}`, spec.help);
  if (spec.kind === "list") {
    const help = `${spec.help} (${describeBounds(spec)}; separated by commas, or repeat it)`;
    return new Option(`--${flag} <value>`, help).argParser(collect);
  }
  return new Option(`--${flag} <value>`, `${spec.help} (${describeBounds(spec)}; default: ${String(spec.default)})`);
}

function flagOf(name: string): string {
  return name.replaceAll("_", "-");
}

/** What commander calls the option of a parameter or a column. */
function keyOf(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** What a per-row column is, after the names of the objectives that take it where not all do. */
function rowColumnHelp(name: RowColumnName): string {
  const objectives = namesTaking(name);
  const { help } = rowColumnNamed(name);
  return objectives === "" ? help : `${objectives}: ${help}`;
}

function textFlag<T extends string>(flags: JobFlags, name: T): [T, string][] {
  const value = flags[keyOf(name)];
  return typeof value === "string" ? [[name, value]] : [];
}

export function given(
  flags: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, ParameterSpec>>,
): Record<string, string | boolean> {
  const values: Record<string, string | boolean> = {};
  for (const name of Object.entries(table).flatMap(([known, spec]) => [known, ...aliasesOf(spec)])) {
    const value = flags[keyOf(name)];
    if (typeof value === "string" || typeof value === "boolean") values[name] = value;
    else if (Array.isArray(value)) values[name] = value.join(); // given more than once: all of them count
  }
  return values;
}

/** @throws TandemError USAGE */
function monotoneSigns(text: string): Record<string, -1 | 0 | 1> {
  return Object.fromEntries(
    columnList(text).map((part) => {
      const [, name, sign] = /^(.+):([+-]?[01])$/.exec(part.trim()) ?? [];
      if (name === undefined)
        throw new TandemError(
          "USAGE",
          `--monotone-constraints takes name:1, name:-1 or name:0, separated by commas; got '${part}'`,
        );
      return [name, Math.sign(Number(sign)) as -1 | 0 | 1];
    }),
  );
}

function columnList(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}
