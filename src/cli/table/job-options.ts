/** The options that describe a job on one table, shared by `simulate` and `estimate`. */
import { namesTaking } from "../../gbdt/objective/objectives.ts";
import { type Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import { type RowColumnName, rowColumnNamed, rowColumnNames } from "../../base/rows/row-columns.ts";
import { aliasesOf, describeBounds, type ParameterSpec } from "../../base/parameters/parameters.ts";
import { jobSectionNames, jobSections, mapSections, secureKeyBits } from "../../protocol/job.ts";
import type { GivenJob } from "../../party/resolve-job.ts";
import { toFlag, toOptionKey } from "../option-names.ts";
import { schemeOption } from "../scheme-options.ts";
import type { SimulateOptions } from "../../simulate/simulate-options.ts";
import { columnOptions, constraintOptions, partyOptions } from "../../simulate/table-options.ts";
import { addTableOptions, readTableOptions } from "./table-flags.ts";

export interface JobFlags {
  readonly data: string;
  readonly label: string;
  readonly scheme?: string;
  readonly keyBits?: string;
  readonly insecureKeyBits?: string;
  readonly [option: string]: unknown;
}

/** @param isRequired whether a table and its label must be named */
export function addJobOptions(command: Command, isRequired = true): Command {
  addTableOptions(command.optionsGroup("Data:"), columnOptions, isRequired);
  for (const name of rowColumnNames) command.option(`--${toFlag(name)} <column>`, rowColumnHelp(name));
  addTableOptions(addTableOptions(command, partyOptions), constraintOptions)
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
    // Allows turning off what a preset turns on.
    if (spec.kind === "switch" && spec.defaultOf !== undefined)
      command.addOption(new Option(`--no-${toFlag(name)}`, `turn --${toFlag(name)} off where the preset turns it on`));
    for (const alias of aliasesOf(spec))
      command.addOption(new Option(`--${toFlag(alias)} <value>`, `the same as --${toFlag(name)}`));
  }
}

/** @throws TandemError USAGE for options that contradict each other */
export function jobFrom(flags: JobFlags): Omit<SimulateOptions, "check" | "onEvent"> {
  return {
    ...readTableOptions(columnOptions, flags),
    ...readTableOptions(partyOptions, flags),
    rowColumns: Object.fromEntries(rowColumnNames.flatMap((name) => textFlag(flags, name))),
    job: {
      ...mapSections((section) => given(flags, jobSections[section])),
      scheme: flags.scheme,
      ...keySize(flags),
      constraints: readTableOptions(constraintOptions, flags),
    },
  };
}

function keySize({ keyBits, insecureKeyBits }: JobFlags): Pick<GivenJob, "keyBits" | "insecureKeyBits"> {
  const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  return { keyBits: number(keyBits), insecureKeyBits: number(insecureKeyBits) };
}

/**
 * @param allowed options that can be combined with --config
 * @throws TandemError USAGE for another one that is given
 */
export function refuseWithConfig(command: Command, allowed: readonly string[]): void {
  const other = command.options.find(
    (option) =>
      !allowed.includes(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (other !== undefined)
    throw new TandemError(
      "USAGE",
      `${other.long ?? other.flags} cannot be combined with --config: set it in the config`,
    );
}

export function parameterOption(name: string, spec: ParameterSpec): Option {
  const flag = toFlag(name);
  if (spec.kind === "switch")
    return spec.default ? new Option(`--no-${flag}`, negated(spec.help)) : new Option(`--${flag}`, spec.help);
  if (spec.kind === "list") {
    const help = `${spec.help} (${describeBounds(spec)}; separated by commas, or repeat it)`;
    return new Option(`--${flag} <value>`, help).argParser(collect);
  }
  return new Option(`--${flag} <value>`, `${spec.help} (${describeBounds(spec)}; default: ${String(spec.default)})`);
}

/** "rank:ndcg: take ..." becomes "rank:ndcg: do not take ...": a prefix names the objectives that use the switch. */
function negated(help: string): string {
  return help.replace(/^(.*?: )?/, "$1do not ");
}

/** What a per-row column is, after the names of the objectives that take it where not all do. */
function rowColumnHelp(name: RowColumnName): string {
  const objectives = namesTaking(name);
  const { help } = rowColumnNamed(name);
  return objectives === "" ? help : `${objectives}: ${help}`;
}

function textFlag<T extends string>(flags: JobFlags, name: T): [T, string][] {
  const value = flags[toOptionKey(name)];
  return typeof value === "string" ? [[name, value]] : [];
}

export function given(
  flags: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, ParameterSpec>>,
): Record<string, string | boolean> {
  const values: Record<string, string | boolean> = {};
  for (const name of Object.entries(table).flatMap(([known, spec]) => [known, ...aliasesOf(spec)])) {
    const value = flags[toOptionKey(name)];
    if (typeof value === "string" || typeof value === "boolean") values[name] = value;
    else if (Array.isArray(value)) values[name] = value.join(); // a repeated option: all values are used
  }
  return values;
}

function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}
