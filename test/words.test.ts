/** The words of code and pages: the real tree passes, and the check is shown to find what it is for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { scratchDirectory } from "./support/command.ts";

interface WordCheck {
  readonly banned: Readonly<Record<string, string>>;
  bannedWords(root: string): string[];
}

const root = join(import.meta.dirname, "..");
const script = pathToFileURL(join(root, "scripts", "check-words.mjs")).href;
const { banned, bannedWords } = (await import(script)) as WordCheck;

test("no banned word is used", () => {
  expect(bannedWords(root)).toEqual([]);
});

test("every banned word is found, at its line and with its replacement, also across a line break", () => {
  const scratch = scratchDirectory();
  const plant = (path: string, text: string): void => {
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    writeFileSync(join(scratch, path), text);
  };
  const words = Object.keys(banned);
  plant("src/planted.ts", `/**\n${words.map((word) => ` * ${word}`).join(";\n")}\n */\n`);
  plant("docs/planted.md", "A job goes\non, and the players that are told_apart do not count.\n");
  plant("src/generated/planted.ts", `// ${words[0]}\n`);
  expect(bannedWords(scratch)).toEqual([
    ...words.map((word, i) => `src/planted.ts:${i + 2}: '${word}': write ${banned[word]}`),
    `docs/planted.md:1: 'goes on': write ${banned["goes on"]}`,
  ]);
});

test("a folder without files is an error", () => {
  expect(() => bannedWords(scratchDirectory())).toThrow(/no files/);
});
