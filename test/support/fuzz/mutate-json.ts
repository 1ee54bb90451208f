/** Seeded mutations of a JSON value: one place in it becomes something else, and the text stays JSON, mostly. */
import type { SeededRandom } from "../../../src/base/random.ts";
import { oddTexts, oneOf } from "./mutate.ts";

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  "",
  "AAAA",
  "AAA=",
  "ff",
  [],
  {},
  [[]],
  [null],
  { kind: "leaf" },
  Array.from({ length: 3000 }, () => 0),
];

type Holder = { [key: string]: unknown } | unknown[];

/** Every object and list in a value. */
function holders(value: unknown): Holder[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Holder, ...Object.values(value).flatMap(holders)];
}

/** The text of a mutated value. A key that stands twice, or a number beyond a double, exists in text only. */
export function mutatedJson(text: string, random: SeededRandom): string {
  const value = JSON.parse(text) as unknown;
  for (let left = 1 + random.below(2); left > 0; left--) change(oneOf(holders(value), random), random);
  const changed = JSON.stringify(value);
  const kind = random.below(12);
  if (kind === 0) return changed.replace(/\d+/, oneOf(["1e999", "-0", "1E2", "00", "1.0"], random));
  if (kind === 1) return changed.replace(/"(\w+)":/, '"$1":0,"$1":');
  if (kind === 2) return changed.replace("{", '{"__proto__":{"x":1},');
  if (kind === 3) return `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  return changed;
}

function change(holder: Holder | undefined, random: SeededRandom): void {
  if (holder === undefined) return;
  const keys = Object.keys(holder);
  const odd = random.below(3) === 0 ? oneOf(oddTexts, random) : structuredClone(oneOf(oddValues, random));
  if (Array.isArray(holder)) {
    const at = random.below(holder.length + 1);
    const kind = random.below(4);
    if (kind === 0) holder.splice(at, 1);
    else if (kind === 1) holder.splice(at, 0, odd);
    else if (kind === 2 && holder.length > 0) holder.push(...holder.slice(0, 50));
    else holder[at] = odd;
    return;
  }
  const key = keys.length === 0 ? "more" : oneOf(keys, random);
  const kind = random.below(5);
  if (kind === 0) delete holder[key];
  else if (kind === 1) holder[oneOf(oddTexts, random)] = odd;
  else if (kind === 2 && typeof holder[key] === "string") {
    const text = holder[key];
    holder[key] = text.slice(0, random.below(text.length + 1)) + oneOf(oddTexts, random);
  } else if (typeof holder[key] === "number" && kind === 3) holder[key] = oneOf(oddValues, random);
  else holder[key] = odd;
}
