/**
 * What a job will reveal to which party, known before it starts: one table of all disclosures, in the wording of
 * docs/leakage.md, each with its upper bound in a job. A test compares the table with the `@reveals` tags of the code,
 * the ledger and the page. The table bounds before a job what the ledger counts during it.
 */
import type { LedgerFacts } from "../messages/call.ts";
import { ledgerEntries } from "../messages/ledger.ts";
import type { LedgerName } from "../messages/table.ts";
import { activeDisclosures } from "./active-disclosures.ts";
import { defenceNotes } from "./disclosure-bounds.ts";
import type { DisclosureEntry, DisclosureFacts, Extent } from "./disclosure-entry.ts";
import { passiveDisclosures } from "./passive-disclosures.ts";
import { hasDisclosure, vettingDisclosures } from "./vetting-disclosures.ts";

export type { DisclosureEntry, DisclosureFacts, Extent, PassiveFacts, Sampling } from "./disclosure-entry.ts";

const bounded = { ...activeDisclosures, ...vettingDisclosures, ...passiveDisclosures };

export type DisclosureName = keyof typeof bounded | LedgerName;

/** Entries of the ledger are disclosures too, even where no bound is known before the job. */
export const disclosureEntries: Readonly<Partial<Record<DisclosureName, DisclosureEntry>>> = {
  ...withoutBounds(ledgerEntries, Object.values<DisclosureEntry>(bounded)),
  ...bounded,
};

export function withoutBounds<Name extends string>(
  fields: Readonly<Record<Name, LedgerFacts>>,
  entries: readonly DisclosureEntry[],
): Readonly<Partial<Record<Name, DisclosureEntry>>> {
  const others = Object.entries<LedgerFacts>(fields).filter(
    ([, { learner, what }]) => !entries.some((entry) => entry.learner === learner && entry.what.includes(what)),
  );
  return Object.fromEntries(
    others.map(([name, { learner, what, unit }]): [string, DisclosureEntry] => [
      name,
      { learner, what, extent: ({ trees }) => (trees === 0 ? null : { atMost: null, unit }) },
    ]),
  ) as Partial<Record<Name, DisclosureEntry>>;
}

export interface Disclosure extends Extent {
  readonly name: DisclosureName;
  readonly learner: string;
  readonly about: string;
  readonly what: string;
}

/** All disclosures between the active and one passive party, and the names of those that this job does not have. */
export function disclosuresOf(facts: DisclosureFacts): {
  readonly reveals: readonly Disclosure[];
  readonly absent: readonly DisclosureName[];
} {
  const reveals: Disclosure[] = [];
  const absent: DisclosureName[] = [];
  for (const [key, { learner, what, extent }] of Object.entries<DisclosureEntry>(disclosureEntries)) {
    const name = key as DisclosureName;
    const found = hasDisclosure(facts, name) ? extent(facts) : null;
    if (found === null) {
      absent.push(name);
      continue;
    }
    const notes = [found.note, ...defenceNotes(name, facts)].filter((note) => note !== undefined);
    reveals.push({
      name,
      learner: facts[learner],
      about: facts[learner === "active" ? "passive" : "active"],
      what,
      ...found,
      ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    });
  }
  return { reveals, absent };
}
