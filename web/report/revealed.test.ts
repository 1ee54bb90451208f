import { expect, test } from "vitest";
import type { StampedEvent } from "../../src/record/events.ts";
import { jobView } from "../../src/record/fold-events.ts";
import { emptyOwn } from "../../src/record/own-view.ts";
import type { Revealed } from "../../src/record/revealed.ts";
import { jobReport } from "./reports.js";

const at = Date.parse("2026-03-01T10:00:00Z");
const job = {
  type: "job",
  party: "retailer",
  at,
  role: "passive",
  job: "spring",
  peers: ["bank"],
  treeCount: 1,
  depthMax: 2,
  parameters: {},
  versions: { tandem: "1", protocol: 1, node: "20" },
} as const satisfies StampedEvent;
const parties = { active: "bank", passive: "retailer" };
const consent: Revealed = { ...parties, at, how: "consent", splits: 13, features: 4, purpose: "a shadow test" };

test("a consent is in the summary of a report and in its list; a public report leaves out the purpose", () => {
  const views = { view: jobView([job]), own: { ...emptyOwn(), revealed: [consent] } };
  const html = jobReport(views, new Date(at));
  expect(html.match(/consented to an export/g)?.length).toBeGreaterThanOrEqual(2);
  expect(html).toContain("for: a shadow test");
  const shown = jobReport(views, new Date(at), { withOwn: false });
  expect(shown).toContain("13 splits of retailer with the names of 4 features");
  expect(shown).not.toContain("shadow test");
});
