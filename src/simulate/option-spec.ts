/** What a table of options says of each: how it is written on the command line, its help, and how it is read. */
import { TandemError } from "../base/error.ts";

export interface OptionSpec<T> {
  /** Without dashes; left out: the option's own name. */
  readonly flag?: string;
  /** What follows the flag; left out: it is a switch. */
  readonly value?: string;
  readonly help: string;
  /** Must be given where a table is needed. */
  readonly isRequired?: boolean;
  /** May be given more than once: all of them are read. */
  readonly isRepeated?: boolean;
  readonly choices?: readonly string[];
  /** Another option of the table that cannot be given with this one. */
  readonly excludes?: string;
  /**
   * @param given what the command line has, one or all; undefined: nothing
   * @param option as it is written, for messages
   * @throws TandemError USAGE
   */
  read(given: readonly string[] | undefined, option: string): T;
}

export type OptionTable = Readonly<Record<string, OptionSpec<unknown>>>;

type Read<S> = S extends OptionSpec<infer T> ? T : never;
type Omissible<T> = { [K in keyof T]: undefined extends Read<T[K]> ? K : never }[keyof T];

/** The values that a table of options describes. */
export type OptionValues<T extends OptionTable> = { readonly [K in Exclude<keyof T, Omissible<T>>]: Read<T[K]> } & {
  readonly [K in Omissible<T>]?: Read<T[K]>;
};

export function option<T>(spec: OptionSpec<T>): OptionSpec<T> {
  return spec;
}

export function text(value: string, help: string): OptionSpec<string | undefined> {
  return { value, help, read: (given) => given?.[0] };
}

export function requiredText(value: string, help: string): OptionSpec<string> {
  return { value, help, isRequired: true, read: (given) => given?.[0] ?? "" };
}

/** On where it is given. */
export function on(help: string): OptionSpec<boolean> {
  return { help, read: (given) => given !== undefined };
}

/** Separated by commas. */
export function list(value: string, help: string): OptionSpec<readonly string[] | undefined> {
  return { value, help, read: (given) => (given === undefined ? undefined : commaSeparated(given[0])) };
}

/** Between 0 and 1. @param excludes the option of a file with these rows */
export function fraction<D extends number | undefined>(
  help: string,
  excludes: string,
  fallback: D,
  { mayBeZero = false }: { readonly mayBeZero?: boolean } = {},
): OptionSpec<number | D> {
  return {
    value: "<number>",
    help,
    excludes,
    read: (given, option) => {
      if (given === undefined) return fallback;
      const number = Number(given[0]);
      if ((number > 0 || (mayBeZero && number === 0)) && number < 1) return number;
      throw new TandemError("USAGE", `${option} must lie between 0 and 1; got '${given[0]}'`);
    },
  };
}

export function commaSeparated(given: string): string[] {
  return given === "" ? [] : given.split(",");
}
