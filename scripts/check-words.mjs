/**
 * Checks the language of code, comments, errors and pages: words and phrases that a newcomer cannot search for, each
 * with what to write instead.
 *
 *   node scripts/check-words.mjs [root]
 *
 * Prints one line per place and exits with 1. Names that are stored on disk, or belong to the system, are exempt in the
 * files that must use them. A run that read no files fails.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Word or phrase (whole words, any case; a space matches any white space) -> what to write instead. */
export const banned = {
  whoever: "the party, the caller, any reader",
  somebody: "a party, a user, an instance",
  nobody: "no party, no user, no instance",
  everybody: "every party, every instance, all",
  anybody: "any party, any user",
  told: "sent, revealed, reported, given",
  tells: "sends, reveals, reports, returns",
  learnt: "learned, trained on",
  "that is none": "not a valid ...",
  "which is none": "not a valid ...",
  "parts nothing": "does not split the node",
  "by turns": "interleaved, alternately",
  "take turns": "alternate",
  "take leave": "close",
  "few words": "rate-limited log",
  "waiting room": "pending connections",
  "goes on": "continues, resumes",
  "go on": "continue, resume",
  "got on": "made progress",
  yardstick: "baseline",
  "made up": "generated, synthetic",
  withheld: "suppressed",
  "beside xgboost": "compared with XGBoost",
  stranger: "unknown peer",
  strangers: "unknown peers",
  heard: "received, logged",
  voice: "events, log",
  kit: "node precomputation",
  kits: "node precomputations",
  "so many": "a number of, n",
};

const roots = ["src", "web", "lab", "test", "native", "proto", "scripts", "docs", "README.md", "ARCHITECTURE.md"];
const more = ["CONTRIBUTING.md", "SECURITY.md"];
const read = /\.(?:ts|tsx|mjs|cpp|h|proto|md|css|html)$/;
const skipped = new Set(["node_modules", "generated", "fixtures", "goldens"]);
const exempt = new Set(["scripts/check-words.mjs", "test/words.test.ts"]);
/** File -> words that it may use: names of stored fields, and a user of the system. */
const allowed = {
  "src/store/daily-file.ts": ["told"],
  "src/party/daily-budget.ts": ["told"],
  "test/support/postgres-server.ts": ["nobody"],
};

const pattern = new RegExp(
  `(?<![\\w-])(?:${Object.keys(banned)
    .map((phrase) => phrase.replaceAll(" ", "\\s+(?:[*/#]+\\s+)?"))
    .join("|")})(?![\\w-])`,
  "giu",
);

function* filesBelow(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) return read.test(path) ? yield path : undefined;
  for (const name of readdirSync(path).toSorted()) if (!skipped.has(name)) yield* filesBelow(join(path, name));
}

/** @returns one line per banned word: place, word, what to write instead */
export function bannedWords(root) {
  const found = [];
  let read = 0;
  for (const start of [...roots, ...more])
    for (const path of filesBelow(join(root, start))) {
      const name = relative(root, path).split(sep).join("/");
      if (exempt.has(name)) continue;
      read += 1;
      const text = readFileSync(path, "utf8");
      for (const match of text.matchAll(pattern)) {
        const word = match[0].toLowerCase().replaceAll(/\s+(?:[*/#]+\s+)?/gu, " ");
        if (allowed[name]?.includes(word)) continue;
        const line = text.slice(0, match.index).split("\n").length;
        found.push(`${name}:${line}: '${word}': write ${banned[word]}`);
      }
    }
  if (read === 0) throw new Error(`no files below ${root}`);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
  const found = bannedWords(root);
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
