/**
 * Whether a value that was read has the form that code relies on: small predicates, put together. For what is read in
 * browsers too, and for lines that are passed over when they are not what they should be. Fields that nobody has named
 * are let through.
 */
export type Shape = (value: unknown) => boolean;

export const text: Shape = (value) => typeof value === "string";
export const flag: Shape = (value) => typeof value === "boolean";
/** JSON has no other numbers than finite ones, but a text of one may be too large: 1e999. */
export const number: Shape = (value) => typeof value === "number" && Number.isFinite(value);
export const count: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const countUpTo =
  (max: number): Shape =>
  (value) =>
    count(value) && (value as number) <= max;
/** Milliseconds since the epoch, within what a Date can be. */
export const instant: Shape = (value) => number(value) && Math.abs(value as number) <= 8.64e15;
export const anything: Shape = () => true;

export const literal =
  (...allowed: readonly (string | number | boolean | null)[]): Shape =>
  (value) =>
    (allowed as readonly unknown[]).includes(value);

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

export const orNull = (shape: Shape): Shape => either(literal(null), shape);

export const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape);

export const tupleOf =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    Array.isArray(value) && value.length === shapes.length && shapes.every((shape, i) => shape(value[i]));

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const recordOf =
  (shape: Shape): Shape =>
  (value) =>
    isObject(value) && Object.values(value).every(shape);

/** @param optional fields that may be left out */
export const objectOf =
  (fields: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape =>
  (value) =>
    isObject(value) &&
    Object.entries(fields).every(([name, shape]) => Object.hasOwn(value, name) && shape(value[name])) &&
    Object.entries(optional).every(
      ([name, shape]) => !Object.hasOwn(value, name) || value[name] === undefined || shape(value[name]),
    );

/**
 * An object of one of several kinds, told apart by a field. A kind that is not in the table is let through where
 * `unknown` says so: a later version may have it.
 */
export const byField =
  (field: string, kinds: Readonly<Record<string, Shape>>, unknown: "allowed" | "refused"): Shape =>
  (value) => {
    if (!isObject(value) || !Object.hasOwn(value, field)) return false;
    const kind = value[field];
    if (typeof kind !== "string") return false;
    return Object.hasOwn(kinds, kind) ? kinds[kind](value) : unknown === "allowed";
  };
