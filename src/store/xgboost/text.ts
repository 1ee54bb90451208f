/**
 * JSON text for XGBoost. Its reader distinguishes integers from floats by the text: where it expects a float, `1` is an
 * error and `1.0` is not. JSON.stringify makes no such difference, and writes float32 numbers with 17 digits.
 */
import { assert } from "../../base/assert.ts";

/** The fields that XGBoost reads as float32. */
const floatFields: ReadonlySet<string> = new Set([
  "base_weights",
  "loss_changes",
  "split_conditions",
  "sum_hessian",
  "weight_drop",
]);

/** The text of an exported model, without spaces, as XGBoost writes it; a single number is written as a float32. */
export function xgboostText(value: object | number): string {
  return typeof value === "number" ? float32Text(value) : jsonText(value, "");
}

function jsonText(value: unknown, field: string): string {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const isFloats = floatFields.has(field);
    const texts = items.map((item) => (isFloats && typeof item === "number" ? float32Text(item) : jsonText(item, "")));
    return `[${texts.join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item, key)}`)
      .join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The shortest decimal that reads back as this float32 number; 9 digits always do. */
function float32Text(value: number): string {
  assert(Number.isFinite(value) && Math.fround(value) === value, "an exported number is a finite float32");
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (readsAs(Number(text), value)) return withPoint(text);
  }
  return withPoint(value.toPrecision(9));
}

/**
 * Whether a decimal, given as a double, is rounded to this float32. A double exactly between two float32 numbers is
 * ambiguous, so it is excluded.
 */
function readsAs(decimal: number, value: number): boolean {
  const mirrored = 2 * decimal - value;
  const isBetween = mirrored !== value && Math.fround(mirrored) === mirrored;
  return Math.fround(decimal) === value && !isBetween;
}

function withPoint(text: string): string {
  return /[.e]/.test(text) ? text : `${text}.0`;
}
