/** The table of messages: its references resolve, and its numbers are unique. */
import { expect, test } from "vitest";
import { ledgerEntries, ledgerNames } from "./ledger.ts";
import { Tally } from "./tally.ts";
import { allCalls, entryFacts } from "./table.ts";

const observations = allCalls.flatMap(({ observes = {} }) => Object.entries(observes));

test("observations count fields of the ledger with the same learner, and every field is counted", () => {
  const counted = new Set<string>();
  for (const [kind, { learner, counts = {} }] of observations) {
    for (const field of Object.keys(counts)) {
      counted.add(field);
      const known: Readonly<Record<string, { readonly learner: string }>> = ledgerEntries;
      expect(known[field]?.learner, `${kind}: ${field}`).toBe(learner);
    }
  }
  expect([...counted].sort()).toEqual([...ledgerNames].sort());
});

test("a kind of entry or observation has the same definition wherever it occurs", () => {
  for (const [kind, facts] of observations)
    for (const [other, same] of observations) if (kind === other) expect(same).toBe(facts);
  const entries = allCalls.flatMap((call) => Object.entries(call.entries ?? {}));
  for (const [kind, facts] of entries)
    for (const [other, same] of entries) if (kind === other) expect(same).toBe(facts);
  const tags = Object.values(entryFacts).map(({ tag }) => tag);
  expect(new Set(tags).size).toBe(tags.length);
});

test("calls with entries have a recorder, and others do not", () => {
  for (const { entries, recorder } of allCalls) expect(recorder === undefined).toBe(entries === undefined);
});

test("a field is added, or set where it is the same in every attempt; predictions are not training traffic", () => {
  const tally = new Tally();
  for (let i = 0; i < 2; i++) {
    tally.see("candidates", 7);
    tally.see("order", { tree: 0, node: 1, ranks: [0, 1, 2] });
    tally.see("predicted ids", ["a", "\u00e9"]);
  }
  expect(tally.ledger).toMatchObject({ candidates: 7, candidateOrders: 6, predictedIds: 4, wins: 0 });
  expect(tally.traffic).toEqual({ activeToPassive: 0, passiveToActive: 24 });
});
