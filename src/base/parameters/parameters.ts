/**
 * The parameter tables that no upper layer owns, and the validation of given values against a table. Config validation,
 * command line help and the reference page are derived from the tables, which are the only place of a default. Training
 * parameters are in gbdt/parameters/.
 */
import { TandemError } from "../error.ts";
import { didYouMean, suggestion } from "../text/nearest-name.ts";
import {
  aliasesOf,
  describeBounds,
  isItemOf,
  type ParameterSpec,
  type ParameterValue,
  type ValuesOf,
} from "./parameter-spec.ts";

export { aliasesOf, describeBounds, type ParameterSpec, type ParameterValue } from "./parameter-spec.ts";
export {
  codecBounds,
  codecNames,
  type CodecParameters,
  codecParameters,
  codecWith,
  paperSlotBits,
} from "./codec-parameters.ts";
export { type ServingParameters, servingParameters } from "./serving-parameters.ts";

/**
 * Checks given values against a table and fills in defaults.
 * @throws TandemError USAGE naming the parameter, its bounds and, for an unknown one, the nearest name
 */
export function resolveParameters<T extends Record<string, ParameterSpec>>(
  table: T,
  given: Readonly<Record<string, unknown>>,
): ValuesOf<T> {
  const aliases = new Map(
    Object.entries(table).flatMap(([name, spec]) => aliasesOf(spec).map((alias) => [alias, name])),
  );
  const named = new Map<string, unknown>();
  for (const [wanted, value] of Object.entries(given)) {
    const name = Object.hasOwn(table, wanted) ? wanted : aliases.get(wanted);
    if (name === undefined) throw unknownParameter(wanted, [...Object.keys(table), ...aliases.keys()]);
    if (value === undefined) continue;
    if (named.has(name)) throw new TandemError("USAGE", `parameter ${name} is given twice, once by another name`);
    named.set(name, value);
  }
  const resolved: Record<string, ParameterValue> = {};
  for (const [name, spec] of Object.entries(table)) {
    const value = named.get(name);
    resolved[name] =
      value === undefined
        ? defaultFor(spec, resolved["objective"] ?? resolved["privacy"])
        : checkedValue(name, spec, value);
  }
  return resolved as ValuesOf<T>;
}

function unknownParameter(wanted: string, known: readonly string[]): TandemError {
  return new TandemError("USAGE", `unknown parameter '${wanted}'${suggestion(wanted, known)}`);
}

/** @param kind the objective, or the preset, on which some defaults depend */
function defaultFor(spec: ParameterSpec, kind: unknown): ParameterValue {
  if (!("defaultOf" in spec) || typeof kind !== "string") return spec.default;
  return spec.defaultOf?.[kind] ?? spec.default;
}

function checkedValue(name: string, spec: ParameterSpec, value: unknown): ParameterValue {
  const checked = valueOrNull(spec, value);
  if (checked !== null) return checked;
  const why = spec.kind === "choice" && typeof value === "string" ? spec.refused?.[value] : undefined;
  if (why !== undefined) throw new TandemError("USAGE", `parameter ${name} cannot be ${String(value)} here: ${why}`);
  const bounds = spec.kind === "choice" ? `one of ${spec.choices.join(", ")}` : describeBounds(spec);
  const nearest = "choices" in spec ? didYouMean(misspelt(spec, value), spec.choices) : "";
  throw new TandemError("USAGE", `parameter ${name} must be ${bounds}; got '${String(value)}'${nearest}`);
}

/** @returns null if the value is not allowed */
function valueOrNull(spec: ParameterSpec, value: unknown): ParameterValue | null {
  if (spec.kind === "list") {
    const items = itemsIn(value);
    const good = items.filter((item): item is string => typeof item === "string" && isItemOf(spec, item));
    // As in XGBoost, a repeated item keeps its first position.
    return good.length === items.length ? [...new Set(good)] : null;
  }
  if (spec.kind === "numbers") {
    const items = itemsIn(value);
    const good = items
      .map((item) => (typeof item === "string" && item !== "" ? Number(item) : item))
      .filter((item): item is number => typeof item === "number" && item > spec.above && item < spec.below);
    return good.length === items.length && good.length > 0 && good.length <= spec.countMax ? good : null;
  }
  if (spec.kind === "switch") {
    if (typeof value === "boolean") return value;
    return spec.bits === true && (value === 0 || value === 1) ? value === 1 : null;
  }
  if (spec.kind === "choice") return typeof value === "string" && spec.choices.includes(value) ? value : null;
  const text = typeof value === "string" ? value.trim() : value;
  if (typeof text === "string" && spec.words?.includes(text) === true) return text;
  const number = typeof text === "string" && text !== "" ? Number(text) : text;
  const low = spec.min ?? -Infinity;
  const good =
    typeof number === "number" &&
    Number.isFinite(number) &&
    (spec.kind === "number" || Number.isInteger(number)) &&
    (spec.minExclusive === true ? number > low : number >= low) &&
    number <= (spec.max ?? Infinity) &&
    !(spec.maxExclusive === true && number === spec.max);
  return good ? number : null;
}

/** A list, a text with commas, or one value. */
function itemsIn(value: unknown): readonly unknown[] {
  if (typeof value === "string") return value.split(",").map((item) => item.trim());
  return Array.isArray(value) ? value : [value];
}

/** The value, or the first item of a list, that is not allowed; without the number of `error@0.7`. */
function misspelt(spec: ParameterSpec, value: unknown): unknown {
  if (spec.kind !== "list") return value;
  const bad = itemsIn(value).find((item) => typeof item === "string" && !isItemOf(spec, item));
  return typeof bad === "string" ? bad.split("@")[0] : undefined;
}
