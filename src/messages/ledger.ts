/**
 * The ledger of disclosures: how much of each entry of docs/leakage.md has passed between two parties so far. Both ends
 * count for themselves, where it happens; counts only, never what was disclosed. The table of messages has its fields.
 */
import type { LedgerFacts } from "./call.ts";
import { allCalls, type LedgerName } from "./table.ts";

export type Ledger = Record<LedgerName, number>;

const fields = Object.assign({}, ...allCalls.map(({ ledger }) => ledger)) as Readonly<Record<LedgerName, LedgerFacts>>;

/** What the active party learns first. */
export const ledgerEntries = Object.fromEntries(
  Object.entries(fields).sort(([, a], [, b]) => a.learner.localeCompare(b.learner)),
) as Readonly<Record<LedgerName, LedgerFacts>>;

export const ledgerNames = Object.keys(ledgerEntries) as readonly LedgerName[];

export function emptyLedger(): Ledger {
  return Object.fromEntries(ledgerNames.map((name) => [name, 0])) as Ledger;
}
