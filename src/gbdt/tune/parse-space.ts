/** Parses a search space from a file, or from one line of the command. */
import { TandemError } from "../../base/error.ts";
import { suggestion } from "../../base/text/nearest-name.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { checkSpace, type Dimension, searchable, type Searched, type SearchSpace } from "./search-space.ts";

/**
 * From a file: `eta: { min: 0.03, max: 0.4, log: true }`, or a list of values.
 * @throws TandemError USAGE
 */
export function spaceFrom(given: unknown): SearchSpace {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new TandemError("USAGE", "a search space has a line per parameter, such as 'eta: { min: 0.03, max: 0.4 }'");
  return checked(Object.entries(given).map(([name, value]) => [nameOf(name), dimensionFrom(name, value)]));
}

/**
 * From the command line: `eta=0.03..0.4:log max_depth=2..6 subsample=0.6|0.8|1`, separated by spaces or commas.
 * @throws TandemError USAGE
 */
export function spaceFromText(text: string): SearchSpace {
  const parts = text.split(/[\s,]+/).filter((part) => part !== "");
  return checked(
    parts.map((part) => {
      const [, name, range, log] = /^(\w+)=(.+?)(:log)?$/.exec(part) ?? [];
      if (name === undefined) throw wrong(part);
      const ends = range.split("..").map(numberFrom);
      if (ends.length === 2) return [nameOf(name), { min: ends[0], max: ends[1], log: log !== undefined }];
      const values = range.split("|").map(numberFrom);
      if (log !== undefined || values.some(Number.isNaN)) throw wrong(part);
      return [nameOf(name), { values }];
    }),
  );
}

function checked(entries: readonly (readonly [Searched, Dimension])[]): SearchSpace {
  const space = Object.fromEntries(entries) as SearchSpace;
  checkSpace(space);
  return space;
}

function numberFrom(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

function wrong(part: string): TandemError {
  return new TandemError(
    "USAGE",
    `--search takes name=min..max, name=min..max:log or name=a|b|c, separated by spaces; got '${part}'`,
  );
}

/** XGBoost's aliases are accepted too. */
function nameOf(given: string): Searched {
  const name = searchable.find((each) => {
    const spec = trainingParameters[each];
    return each === given || ("aliases" in spec && (spec.aliases as readonly string[]).includes(given));
  });
  if (name !== undefined) return name;
  if (Object.hasOwn(trainingParameters, given))
    throw new TandemError(
      "USAGE",
      `${given} cannot be searched: all trials are one job, and its parties agree on ${given} once. ` +
        `These can: ${searchable.join(", ")}`,
    );
  throw new TandemError("USAGE", `${given} is not a parameter that can be searched${suggestion(given, searchable)}`);
}

function dimensionFrom(name: string, value: unknown): Dimension {
  const isNumber = (each: unknown): each is number => typeof each === "number";
  if (isNumber(value)) return { values: [value] };
  if (Array.isArray(value) && value.every(isNumber)) return { values: value };
  if (typeof value === "object" && value !== null) {
    const { min, max, log = false, ...others } = value as Record<string, unknown>;
    if (isNumber(min) && isNumber(max) && typeof log === "boolean" && Object.keys(others).length === 0)
      return { min, max, log };
  }
  throw new TandemError(
    "USAGE",
    `the search space of ${name} must be a list of numbers, or have 'min', 'max' and optionally 'log: true'`,
  );
}
