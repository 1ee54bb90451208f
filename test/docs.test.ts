/** Documents agree with the code in both directions, and are linked and readable. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { withObjectiveTables } from "../lab/reference/objective-tables.ts";
import { parameterPage } from "../lab/reference/parameter-page.ts";
import { errorCodes } from "../src/base/error.ts";
import { ledgerEntries } from "../src/messages/ledger.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { revealsTags } from "./support/reveals-tags.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("docs/errors.md lists exactly the codes that exist, with their meaning", () => {
  const rows = [...read("docs/errors.md").matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm)].map(([, code, meaning]) => ({
    code,
    meaning,
  }));
  expect(Object.fromEntries(rows.map(({ code, meaning }) => [code, meaning]))).toEqual(errorCodes);
});

test("every disclosure that the code declares is in docs/leakage.md, under the party that learns it", () => {
  const page = read("docs/leakage.md").replace(/\s+/g, " ");
  const sections = {
    active: section(page, "What the active party learns"),
    passive: section(page, "What a passive party learns"),
  };
  const declared = revealsTags(join(root, "src"));
  expect(declared.length).toBeGreaterThan(15);
  for (const { learner, what } of declared) expect(sections[learner], `${learner}: ${what}`).toContain(what);
});

test("every entry of the ledger is in docs/leakage.md, with its text, under the party that learns it", () => {
  const page = read("docs/leakage.md").replace(/\s+/g, " ");
  const sections = {
    active: section(page, "What the active party learns"),
    passive: section(page, "What a passive party learns"),
  };
  for (const { learner, what } of Object.values(ledgerEntries)) expect(sections[learner], what).toContain(what);
});

function section(page: string, title: string): string {
  const start = page.indexOf(`## ${title}`);
  expect(start, `a section '${title}'`).toBeGreaterThanOrEqual(0);
  return page.slice(start, page.indexOf("## ", start + 3) === -1 ? undefined : page.indexOf("## ", start + 3));
}

test("docs/protocol.md describes the wire version of the code", () => {
  expect(read("docs/protocol.md")).toMatch(new RegExp(`\\bVersion: ${protocolVersion}\\.`));
});

test("docs/parameters.md is what the parameter tables make of it", () => {
  expect(read("docs/parameters.md"), "run 'npm run parameters'").toBe(parameterPage());
});

test("the tables of docs/objectives.md are what objectives and metrics declare", () => {
  const page = read("docs/objectives.md");
  expect(page, "run 'npm run parameters'").toBe(withObjectiveTables(page));
});

test("the README's commands are the ones that continuous integration runs", () => {
  expect(read("README.md")).toContain("npm ci && npx tandem demo");
  expect(read("README.md")).toContain("npm ci && npm test");
  expect(read(".ci/run")).toMatch(/npm ci[\s\S]*npm test/);
});

test("only pages about a clone say `npx tandem`: elsewhere npm would fetch another package of that name", () => {
  const allowed = ["README.md", join("docs", "README.md"), join("docs", "deploy.md")];
  expect(pages.filter((page) => read(page).includes("npx tandem") && !allowed.includes(page))).toEqual([]);
  expect(section(read("README.md"), "Between companies")).not.toContain("npx tandem");
});

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

const withoutCode = (page: string): string => read(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, "");

/** Relative links and pictures of a page: the file, and the heading where one is named. */
function linksOf(page: string): { target: string; heading?: string }[] {
  return [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path, heading] = link.split("#");
      return { target: path === "" ? page : normalize(join(dirname(page), path)), heading };
    });
}

/** A heading as the address of a link. */
const addressOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

test.each(pages)("links of %s resolve", (page) => {
  for (const { target, heading } of linksOf(page)) {
    expect(existsSync(join(root, target)), `${page} -> ${target}`).toBe(true);
    if (heading === undefined) continue;
    const headings = [...withoutCode(target).matchAll(/^#+ (.+)$/gm)].map(([, title]) => addressOf(title));
    expect(headings, `${page} -> ${target}#${heading}`).toContain(heading);
  }
});

test.each(pages)("files that %s names exist", (page) => {
  const named = [...withoutCode(page).matchAll(/`([\w-]+(?:\/[\w.-]+)+\.(?:ts|tsx|mjs|cpp|h))`/g)].map(
    ([, path]) => path,
  );
  expect(named.filter((path) => !["", "src"].some((folder) => existsSync(join(root, folder, path))))).toEqual([]);
});

test("every page of docs/ is in the index", () => {
  const listed = linksOf("docs/README.md").map(({ target }) => target);
  const others = pages.filter((page) => page.startsWith("docs") && page !== join("docs", "README.md"));
  expect(others.filter((page) => !listed.includes(page))).toEqual([]);
});

test("the glossary defines each term once, and at most 60 of them", () => {
  const rows = read("docs/glossary.md").matchAll(/^\| (?!term )(?:\*\*)?([A-Za-z][^|*]*?)(?:\*\*)? +\|/gm);
  const terms = [...rows].map(([, term]) => term);
  expect(terms.length).toBeGreaterThan(40);
  expect(terms.length).toBeLessThanOrEqual(60);
  expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
});

const wordsMax = 45;

/** Paragraphs and list items, without code, tables and headings. */
function paragraphsOf(page: string): string[] {
  return withoutCode(page)
    .replaceAll(/^(\||#).*$/gm, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((text) => text.replaceAll(/\s+/g, " ").trim());
}

test.each(pages.filter((page) => page !== "ARCHITECTURE.md"))("sentences of %s are short", (page) => {
  const sentences = paragraphsOf(page).flatMap((text) => text.split(/(?<=[.!?:]) /));
  expect(sentences.filter((sentence) => sentence.split(" ").length > wordsMax)).toEqual([]);
});
