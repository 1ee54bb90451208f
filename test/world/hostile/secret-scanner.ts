import { forgedLine } from "./hostile-values.ts";
import { labelWords, type Person, plantedSecrets } from "./hostile-parties.ts";

/** What an active party reports of a passive one that claims to have an internal error: not an error of its own. */
const theirs = /party \S+ failed: an internal error; the party's own log has it/g;

/** Finds in a party's output what must never be there: ids, values, labels, keys, and stack traces. */
export class SecretScanner {
  readonly #values: ReadonlySet<string>;

  constructor(people: readonly Person[]) {
    this.#values = new Set(people.flatMap(({ bank, shop }) => [...bank, ...shop]).filter((cell) => cell.length > 4));
  }

  /** @returns a name for each kind of secret in the text */
  in(text: string): string[] {
    const found: string[] = [];
    if (/zq1\d{3}x/.test(text)) found.push("an id");
    if (labelWords.some((word) => text.includes(word))) found.push("a label");
    if (plantedSecrets.some((word) => text.includes(word))) found.push("a secret of a config");
    if ([...text.matchAll(/-?\d+\.\d{7}(?!\d)/g)].some(([digits]) => this.#values.has(digits))) found.push("a value");
    if (/PRIVATE KEY|\d{60}/.test(text)) found.push("key material");
    if (/"threshold":/.test(text)) found.push("a threshold");
    if (/^\s+at .+[:(]\d+/m.test(text) || /\bnode:internal\b|\b[A-Z]\w*Error: /.test(text)) found.push("a stack");
    if (/\bINTERNAL\b|internal error/i.test(text.replaceAll(theirs, ""))) found.push("an internal error");
    if (text.split("\n").some((line) => line.startsWith(forgedLine))) found.push("a forged line");
    return found;
  }
}
