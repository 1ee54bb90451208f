/** The length of sentences on the pages: the real pages pass, and the check is shown to find what it is for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { scratchDirectory } from "./support/command.ts";

interface SentenceCheck {
  readonly wordsMax: number;
  longSentences(root: string): string[];
}

const root = join(import.meta.dirname, "..");
const script = pathToFileURL(join(root, "scripts", "check-sentences.mjs")).href;
const { wordsMax, longSentences } = (await import(script)) as SentenceCheck;

function found(page: string): string[] {
  const scratch = scratchDirectory();
  mkdirSync(join(scratch, "docs"));
  writeFileSync(join(scratch, "docs", "planted.md"), page);
  return longSentences(scratch);
}

const words = (count: number): string => Array.from({ length: count }, () => "word").join(" ");

test("no page has a sentence that is too long", () => {
  expect(longSentences(root)).toEqual([]);
});

test.each([
  ["a paragraph over several lines", `# Title\n\n${words(20)}\n${words(20)}\n${words(6)}.\n`, 3],
  ["a list item", `- One.\n- ${words(46)}.\n`, 2],
  ["list items that are one sentence", `It has\n\n- ${words(20)};\n- ${words(20)},\n  ${words(6)}.\n`, 3],
  ["a cell of a table", `| a | b |\n| - | - |\n| c | ${words(46)} |\n`, 3],
  ["an abbreviation in the middle", `${words(23)} e.g. ${words(22)}.\n`, 1],
])("%s is found at its line", (_, page, line) => {
  expect(found(page)).toEqual([
    expect.stringMatching(`^docs/planted\\.md:${line}: 46 words, at most ${wordsMax}: word word`),
  ]);
});

test.each([
  ["two sentences", `${words(30)}. ${words(30)}.\n`],
  ["list items with full stops", `- ${words(30)}.\n- ${words(30)}.\n`],
  ["paragraphs", `${words(30)}\n\n${words(30)}\n`],
  ["code", `${words(44)} \`${words(10)}\`.\n\n\`\`\`sh\n${words(60)}\n\`\`\`\n`],
  ["the address of a link", `${words(44)} [word](a%20b ${words(10)}).\n`],
])("%s may be longer in total", (_, page) => {
  expect(found(page)).toEqual([]);
});

test("a folder without pages is an error", () => {
  expect(() => longSentences(scratchDirectory())).toThrow(/no pages/);
});
