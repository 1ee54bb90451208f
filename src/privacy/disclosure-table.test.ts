/** The table of disclosures against the code's @reveals tags, the ledger, docs/leakage.md and the defences. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { revealsTags } from "../../test/support/reveals-tags.ts";
import { ledgerEntries } from "../messages/ledger.ts";
import type { Defence } from "./defences/defence.ts";
import { defenceNames, defences } from "./defences/defences.ts";
import { disclosureEntries } from "./disclosures.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs", "leakage.md"), "utf8");
const entries = Object.values(disclosureEntries);

/** The page's list of what a party learns, each item on one line. */
function itemsOf(learner: "active" | "passive"): string[] {
  const title = `## What ${learner === "active" ? "the active" : "a passive"} party learns`;
  const section = page.slice(page.indexOf(title) + title.length).split(/\n#{2,3} /)[0];
  return section
    .replaceAll(/\n {2}(?=\S)/g, " ")
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2));
}

const tags = revealsTags(join(root, "src"));

test("the table has every @reveals tag of the code and every entry of the ledger, under the same learner", () => {
  expect(tags.length).toBeGreaterThan(15);
  for (const { learner, what } of [...tags, ...Object.values(ledgerEntries)]) {
    const covering = entries.filter((entry) => entry.learner === learner && entry.what.includes(what));
    expect(covering, `${learner}: ${what}`).not.toHaveLength(0);
  }
});

test("the table and the lists of docs/leakage.md have the same items, verbatim", () => {
  for (const learner of ["active", "passive"] as const) {
    const items = itemsOf(learner);
    expect(items.length).toBeGreaterThan(8);
    const ours = entries.filter((entry) => entry.learner === learner);
    for (const { what } of ours)
      expect(
        items.filter((item) => item.includes(what)),
        what,
      ).not.toHaveLength(0);
    for (const item of items)
      expect(
        ours.filter(({ what }) => item.includes(what)),
        item,
      ).not.toHaveLength(0);
  }
});

test("notes of defences are about existing disclosures, and not empty", () => {
  for (const name of defenceNames) {
    const { notes = {} }: Defence = defences[name];
    for (const [disclosure, note] of Object.entries(notes)) {
      expect(Object.keys(disclosureEntries), name).toContain(disclosure);
      expect(note(1), name).toMatch(/\w/);
    }
  }
});
