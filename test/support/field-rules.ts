/** Small rules for documents that a public specification describes: types, required fields, and no unknown ones. */

/** What is wrong with a value at a place; empty: nothing. */
export type Rule = (value: unknown, at: string) => string[];

const fail = (at: string, what: string): string[] => [`${at === "" ? "the document" : at}: ${what}`];
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const anything: Rule = () => [];

export const text =
  (syntax = /^/): Rule =>
  (value, at) => {
    if (typeof value !== "string") return fail(at, "must be text");
    return syntax.test(value) ? [] : fail(at, `'${value.slice(0, 40)}' does not match ${syntax.source}`);
  };

export const words =
  (...allowed: readonly string[]): Rule =>
  (value, at) =>
    allowed.some((word) => word === value) ? [] : fail(at, `must be one of ${allowed.join(", ")}`);

export const whole =
  (min: number, max: number): Rule =>
  (value, at) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? []
      : fail(at, `must be an integer from ${min} to ${max}`);

export const flag: Rule = (value, at) => (typeof value === "boolean" ? [] : fail(at, "must be true or false"));

/** @param isSet whether two alike are refused */
export const listOf =
  (rule: Rule, isSet = false): Rule =>
  (value, at) => {
    if (!Array.isArray(value)) return fail(at, "must be a list");
    const twice = isSet && new Set(value.map((item) => JSON.stringify(item))).size < value.length;
    return [
      ...(twice ? fail(at, "has something twice") : []),
      ...value.flatMap((item, i) => rule(item, `${at}[${i}]`)),
    ];
  };

/** Names are free, but for their syntax. */
export const mapOf =
  (names: RegExp, rule: Rule): Rule =>
  (value, at) => {
    if (!isObject(value)) return fail(at, "must be a map");
    return Object.entries(value).flatMap(([name, item]) => [
      ...(names.test(name) ? [] : fail(`${at}.${name}`, "is no name")),
      ...rule(item, `${at}.${name}`),
    ]);
  };

export interface Fields {
  readonly required?: Readonly<Record<string, Rule>>;
  readonly optional?: Readonly<Record<string, Rule>>;
  /** In the specification too, but not written here. */
  readonly others?: string;
  /** Names of extensions. */
  readonly extensions?: RegExp;
}

export const fields =
  ({ required = {}, optional = {}, others = "", extensions }: Fields): Rule =>
  (value, at) => {
    if (!isObject(value)) return fail(at, "must be an object");
    const known = { ...required, ...optional };
    const more = new Set(others.split(/\s+/));
    const place = (name: string): string => (at === "" ? name : `${at}.${name}`);
    return [
      ...Object.keys(required).flatMap((name) => (Object.hasOwn(value, name) ? [] : fail(place(name), "is missing"))),
      ...Object.entries(value).flatMap(([name, item]) => {
        if (Object.hasOwn(known, name)) return known[name](item, place(name));
        return more.has(name) || extensions?.test(name) === true
          ? []
          : fail(place(name), "is not in the specification");
      }),
    ];
  };

/** All of them hold. */
export const all =
  (...rules: readonly Rule[]): Rule =>
  (value, at) =>
    rules.flatMap((rule) => rule(value, at));
