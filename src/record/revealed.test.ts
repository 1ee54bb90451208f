import { describe, expect, test } from "vitest";
import type { StampedEvent } from "./events.ts";
import { jobView } from "./fold-events.ts";
import type { JobView } from "./job-view.ts";
import { disclosureLead } from "./ledger-facts.ts";
import { addOwn, isOwnLine, type OwnLine } from "./own-lines.ts";
import { emptyOwn, type OwnJobView } from "./own-view.ts";
import { type Revealed, revealedFacts } from "./revealed.ts";

const day = Date.parse("2026-03-01T10:00:00Z");
const hour = 3_600_000;
const between = { active: "bank", passive: "retailer" } as const;

function viewOf(role: "active" | "passive", parameters: Record<string, boolean> = {}): JobView {
  const [party, peer] = role === "active" ? ["bank", "retailer"] : ["retailer", "bank"];
  const events = [
    {
      type: "job",
      role,
      job: "spring",
      peers: [peer],
      treeCount: 1,
      depthMax: 2,
      parameters,
      versions: { tandem: "1", protocol: 1, node: "20" },
    },
    {
      type: "aligned",
      job: "spring",
      commonCount: 701,
      ...(role === "active" ? { pairwise: [{ peer, idCount: 900, sharedCount: 750 }] } : { peer }),
    },
  ];
  return jobView(events.map((event) => ({ ...event, party, at: day }) as StampedEvent));
}

function ownOf(...facts: readonly Revealed[]): OwnJobView {
  const own = emptyOwn();
  for (const fact of facts) {
    const line: OwnLine = { kind: "revealed", ...fact };
    expect(isOwnLine(line)).toBe(true);
    addOwn(own, line, ["bank", "retailer"]);
  }
  return own;
}

const wordsOf = (view: JobView, ...facts: readonly Revealed[]): string[] =>
  revealedFacts(view, ownOf(...facts).revealed).map(
    ({ when, learner, about, words }) => `${when} ${learner} about ${about}: ${words}`,
  );

test("alignment: who knows which people are in whose table", () => {
  expect(wordsOf(viewOf("active"))).toEqual([
    "2026-03-01 bank about retailer: which 750 people of its table are also in that of retailer, " +
      "and that retailer has 900 people",
    "2026-03-01 retailer about bank: which 701 people of its table are in those of all parties",
  ]);
  expect(wordsOf(viewOf("passive"))).toEqual([
    "2026-03-01 bank about retailer: which 701 people of its table are also in that of retailer",
    "2026-03-01 retailer about bank: which 701 people of its table are in those of all parties",
  ]);
});

describe("after the job", () => {
  const view = { ...viewOf("passive"), alignment: { done: 0, total: 0, commonCount: null, at: null, pairwise: [] } };
  const scoring = { ...between, at: day, how: "scoring", ids: 400 } as const;

  test("scoring is summed per day, and what it reveals depends on the job", () => {
    const facts = [scoring, { ...scoring, at: day + hour, ids: 100 }, { ...scoring, at: day + 24 * hour, ids: 1 }];
    expect(wordsOf(view, ...facts)).toEqual([
      "2026-03-01 bank about retailer: the outcome of each of retailer's splits for 500 people, and " +
        "which of them it holds",
      "2026-03-01 retailer about bank: the ids of 500 people to be scored with this model, and when",
      "2026-03-02 bank about retailer: the outcome of each of retailer's splits for one person, and " +
        "which of them it holds",
      "2026-03-02 retailer about bank: the ids of one person to be scored with this model, and when",
    ]);
    const masked = { ...view, parameters: { masked_scoring: true } };
    expect(wordsOf(masked, scoring)[0]).toContain("no outcome of a split");
  });

  test("explanations: tags of splits to the active party, contributions to the passive one", () => {
    const facts: Revealed[] = [
      { ...between, at: day, how: "tags", splits: 13 },
      { ...between, at: day + hour, how: "tags", splits: 13 },
      { ...between, at: day, how: "contributions", ids: 20 },
    ];
    expect(wordsOf(view, ...facts)).toEqual([
      "2026-03-01 bank about retailer: which of retailer's 13 splits share a feature within a tree, for explanations",
      "2026-03-01 retailer about bank: what retailer's own features add to the scores of 20 people",
    ]);
  });

  const consent: Revealed = { ...between, at: day, how: "consent", splits: 13, features: 4, purpose: "a shadow test" };

  test("a consent contradicts that no threshold was sent, and the first lines of page and report say so", () => {
    expect(disclosureLead(view, []).join(" ")).not.toContain("But on");
    const lead = disclosureLead(view, [consent]);
    expect(lead[0]).toMatch(/^In training \(2026-03-01\) no row, feature name or split threshold was sent/);
    expect(lead[1]).toBe(
      "But on 2026-03-01 retailer consented to an export: bank has 13 splits of retailer, with the names of features " +
        "and the thresholds.",
    );
    expect(lead[2]).toContain("before and after training is listed with its dates");
    expect(wordsOf(view, consent, consent)).toHaveLength(2); // two consents are two disclosures
  });

  test("facts are in the order of their dates, and a vetting that is reported twice is one", () => {
    const vetting: Revealed = { ...between, at: day - hour, how: "vetting", features: 3, names: false };
    const whole = viewOf("passive");
    const said = wordsOf(whole, scoring, vetting, vetting, { ...vetting, at: day + hour });
    expect(said.map((words) => /vett(ed|ing)/.test(words))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      true,
      true,
    ]);
    // One with another partner is none of this job's.
    expect(wordsOf(view, { ...vetting, passive: "telecom" })).toEqual([]);
  });
});

test("a line without its parties or its time is not one", () => {
  expect(isOwnLine({ kind: "revealed", at: day, how: "scoring", ids: 1 })).toBe(false);
  expect(isOwnLine({ kind: "revealed", ...between, how: "scoring", ids: 1 })).toBe(false);
  expect(isOwnLine({ kind: "revealed", ...between, at: day, how: "guessing" })).toBe(false);
});
