/**
 * The ledger of disclosures: counts of each disclosure of docs/leakage.md between two parties so far. Both ends count
 * independently. It holds counts only, never the disclosed data. The table of messages defines its fields.
 */
import type { LedgerFacts } from "./call.ts";
import { allCalls, type LedgerName } from "./table.ts";

export type Ledger = Record<LedgerName, number>;

const fields = Object.assign({}, ...allCalls.map(({ ledger }) => ledger)) as Readonly<Record<LedgerName, LedgerFacts>>;

/** Ordered by learner: the active party first. */
export const ledgerEntries = Object.fromEntries(
  Object.entries(fields).sort(([, a], [, b]) => a.learner.localeCompare(b.learner)),
) as Readonly<Record<LedgerName, LedgerFacts>>;

export const ledgerNames = Object.keys(ledgerEntries) as readonly LedgerName[];

export function emptyLedger(): Ledger {
  return Object.fromEntries(ledgerNames.map((name) => [name, 0])) as Ledger;
}
