/** JSON that is read back exactly. */
import { assert } from "../base/assert.ts";

/** Asserts that every number survives: JSON would turn some into null, and -0 into 0. */
export function storedJson(value: unknown): string {
  checkNumbers(value);
  return JSON.stringify(value);
}

const known = new WeakMap<object, string>();

/** The JSON of a list of immutable items: each is serialised once, however often the list is stored. */
export function storedList(items: readonly object[]): string {
  return `[${items.map(storedItem).join(",")}]`;
}

function storedItem(item: object): string {
  const before = known.get(item);
  if (before !== undefined) return before;
  const text = storedJson(item);
  known.set(item, text);
  return text;
}

function checkNumbers(value: unknown): void {
  if (typeof value === "number")
    assert(Number.isFinite(value) && !Object.is(value, -0), "a stored file's numbers survive JSON");
  else if (Array.isArray(value)) for (const item of value) checkNumbers(item);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) checkNumbers(item);
}
