/**
 * Checks the length of sentences on the pages: no sentence has more than 45 words.
 *
 *   node scripts/check-sentences.mjs [root]
 *
 * Prints one line per sentence that is too long and exits with 1. A paragraph, a list item and a cell of a table are
 * read on their own; but list items that end with a comma or a semicolon are one sentence with the next one. A piece of
 * code counts as one word, and code blocks do not count. A run that read no pages fails.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const wordsMax = 45;

/** White space after a full stop, except after an abbreviation. */
const sentenceEnd = /(?<=[.!?]["')\]]*)(?<!\b(?:al|cf|e\.g|eq|i\.e|no|vs)\.)\s+/u;

const roots = ["docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

function* pagesBelow(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) return path.endsWith(".md") ? yield path : undefined;
  for (const name of readdirSync(path).toSorted()) yield* pagesBelow(join(path, name));
}

const opensBlock = /^(?:#|\||[-*+]\s|\d+[.)]\s)/u;

/** @returns paragraphs, headings, cells, and list items with those that continue them, each with its first line */
function* blocksIn(text) {
  let block = { line: 0, text: "" };
  let fence = null;
  for (const [index, raw] of text.split("\n").entries()) {
    const row = raw.replace(/^[\s>]+/u, "");
    const mark = /^(?:`{3,}|~{3,})/u.exec(row)?.[0];
    const isFence = fence === null ? mark !== undefined : row === fence;
    if (isFence) fence = fence === null ? mark : null;
    if (isFence || fence !== null || row === "" || (opensBlock.test(row) && !/[,;]\n$/u.test(block.text))) {
      if (block.text !== "") yield block;
      block = { line: index + 1, text: "" };
    }
    if (isFence || fence !== null || row === "") continue;
    if (row.startsWith("|")) {
      for (const cell of row.split(/(?<!\\)\|/u)) yield { line: index + 1, text: cell };
      continue;
    }
    if (block.text === "") block.line = index + 1;
    block.text += `${row.replace(/^(?:#+|[-*+]|\d+[.)])\s+/u, "")}\n`;
  }
  if (block.text !== "") yield block;
}

/** Text as it is read: code becomes one word, a link its text, and tags and emphasis disappear. */
function plain(text) {
  return text
    .replaceAll(/(`+)[^`][\s\S]*?\1/gu, "code")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/gu, "");
}

/** @returns one line per sentence with more than `wordsMax` words: place, count, first words */
export function longSentences(root) {
  const found = [];
  let read = 0;
  for (const start of roots)
    for (const path of pagesBelow(join(root, start))) {
      read += 1;
      const name = relative(root, path).split(sep).join("/");
      for (const block of blocksIn(readFileSync(path, "utf8")))
        for (const sentence of plain(block.text).split(sentenceEnd)) {
          const words = sentence.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
          if (words.length <= wordsMax) continue;
          const opening = words.slice(0, 8).join(" ");
          found.push(`${name}:${block.line}: ${words.length} words, at most ${wordsMax}: ${opening} ...`);
        }
    }
  if (read === 0) throw new Error(`no pages below ${root}`);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
  const found = longSentences(root);
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
