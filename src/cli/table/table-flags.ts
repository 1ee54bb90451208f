/** Options of a table (simulate/option-spec.ts) on the command line: declared to the parser, read from its result. */
import { type Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import type { OptionSpec, OptionTable, OptionValues } from "../../simulate/option-spec.ts";

/** @param isRequired whether options that a table needs must be given */
export function addTableOptions(command: Command, table: OptionTable, isRequired = true): Command {
  for (const [name, spec] of Object.entries(table)) {
    const flags = spec.value === undefined ? written(name, spec) : `${written(name, spec)} ${spec.value}`;
    const option = new Option(flags, spec.help).makeOptionMandatory(isRequired && spec.isRequired === true);
    if (spec.choices !== undefined) option.choices(spec.choices);
    if (spec.isRepeated === true) option.argParser((value: string, before: string[] = []) => [...before, value]);
    command.addOption(option);
  }
  return command;
}

/** @throws TandemError USAGE for a value that cannot be read, and for options that exclude each other */
export function readTableOptions<T extends OptionTable>(
  table: T,
  flags: Readonly<Record<string, unknown>>,
): OptionValues<T> {
  const values = Object.entries(table).map(([name, spec]) => {
    const given = givenIn(flags, name, spec);
    const { excludes } = spec;
    if (given !== undefined && excludes !== undefined && givenIn(flags, excludes, table[excludes]) !== undefined)
      throw new TandemError(
        "USAGE",
        `${written(name, spec)} and ${written(excludes, table[excludes])} exclude each other`,
      );
    return [name, spec.read(given, written(name, spec))];
  });
  return Object.fromEntries(values) as OptionValues<T>;
}

/** `testFraction` and `num_round` are --test-fraction and --num-round. */
function written(name: string, { flag }: OptionSpec<unknown>): string {
  return `--${flag ?? name.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The parser stores an option --no-x under x, as false. */
function givenIn(
  flags: Readonly<Record<string, unknown>>,
  name: string,
  spec: OptionSpec<unknown>,
): readonly string[] | undefined {
  const long = written(name, spec).slice(2);
  const isNegative = long.startsWith("no-");
  const value =
    flags[(isNegative ? long.slice(3) : long).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
  if (Array.isArray(value)) return value as string[];
  if (typeof value === "string") return [value];
  return value === !isNegative ? [] : undefined;
}
