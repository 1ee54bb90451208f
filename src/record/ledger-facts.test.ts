import { expect, test } from "vitest";
import { membershipFacts } from "../base/membership.ts";
import { emptyLedger, ledgerEntries } from "../messages/ledger.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { disclosureLead, ledgerLines } from "./ledger-facts.ts";

/** As in the demo: 12 trees of depth 4 over 2,250 instances. */
const ledger = {
  ...emptyLedger(),
  candidateSums: 26_976,
  candidates: 281,
  candidateOrders: 562,
  splitOutcomes: 37_344,
  predictionOutcomes: 45_750,
  encryptedGradients: 27_000,
  memberships: 47_073,
  wins: 61,
  predictedIds: 750,
};

function viewOf(changes: Partial<JobView> = {}): JobView {
  const retailer = { name: "retailer", role: "passive", self: false, connected: true, doing: null } as const;
  return {
    ...emptyJobView(),
    party: "bank",
    peers: ["retailer"],
    state: "finished",
    treesDone: 12,
    treeCount: 12,
    depthMax: 4,
    data: { trainRows: 2250, testRows: 750, featureCount: 8 },
    parties: [{ ...retailer, featureCount: 8, sentBytes: 0, receivedBytes: 0 }],
    ledgers: new Map([["retailer", ledger]]),
    ...changes,
  };
}

const scalesOf = (view: JobView): Record<string, string> =>
  Object.fromEntries(
    ledgerLines(view).map(({ what, scale }) => {
      const [name] = Object.entries(ledgerEntries).find(([, entry]) => entry.what === what) ?? [""];
      return [name, scale.words];
    }),
  );

test("every count above zero has a scale; others are left out", () => {
  expect(scalesOf(viewOf())).toEqual({
    candidateSums: "96 of at most 96 nodes",
    candidates: "of 8 features",
    candidateOrders: "2 of at most 180 splits",
    splitOutcomes: "16.6 per person, of at most 48",
    predictionOutcomes: "61 per predicted person, of at most 180",
    encryptedGradients: "1 per person and tree; unreadable without the secret key",
    memberships: "20.9 per person, of at most 48",
    wins: "61 of at most 180 splits",
    predictedIds: "750 of at most 750 predicted people",
  });
  const parts = ledgerLines(viewOf()).map(({ scale }) => scale.part);
  expect(parts.every((part) => part === null || (part > 0 && part <= 1))).toBe(true);
});

test("where trees have no bound, or rows are not known, scales have fewer parts", () => {
  const unbounded = scalesOf(viewOf({ depthMax: 0 }));
  expect(unbounded).toMatchObject({ wins: "61 splits", splitOutcomes: "16.6 per person" });
  const unknown = Object.values(scalesOf(viewOf({ data: null, parties: [], treesDone: 0 })));
  expect(unknown.join()).not.toMatch(/NaN|Infinity|undefined|null/);
});

test("where members are hidden, outcomes cover every instance", () => {
  expect(scalesOf(viewOf({ membership: membershipFacts.hidden }))["splitOutcomes"]).toBe(
    "16.6 per person, of at most 180",
  );
});

test("three sentences: what was not sent, what is counted, what to assume", () => {
  const lead = disclosureLead(viewOf(), []);
  expect(lead).toHaveLength(3);
  expect(lead[0]).toMatch(/^In training no row, feature name or split threshold was sent/);
  expect(lead[1]).toContain("in training is counted below");
  expect(disclosureLead(viewOf({ state: "training" }), [])[1]).toContain("so far");
  for (const sentence of lead) expect(sentence).toMatch(/^[A-Z][^.]*(\.md[^.]*)?\.$/);
});
