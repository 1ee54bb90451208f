import { expect, test } from "vitest";
import { nothingSpent, type Spending } from "../privacy/spending.ts";
import type { PartyEvent } from "./events.ts";
import { logTo } from "./log.ts";

function lineOf(spent: Partial<Spending>): string {
  const event: PartyEvent = {
    type: "budget",
    party: "shop",
    peer: "bank",
    spent: { ...nothingSpent, ...spent },
    limits: {},
  };
  let text = "";
  logTo({ level: "info", terminal: true, write: (more) => (text += more), now: () => new Date(0) })(event);
  return text;
}

test("the log names exact sums and opened best candidates apart", () => {
  const hidden = lineOf({ openedPerPerson: 0.15, outcomesPerPerson: 20 });
  expect(hidden).toContain(
    "bank got 0 exact sums per person in all jobs (little), 0.15 of best candidates only (at most 4.9 bits), " +
      "0 with noise, 20 outcomes, 0 scores",
  );
  const exact = lineOf({ sumsPerPerson: 0.15 });
  expect(exact).toContain("0.15 exact sums per person in all jobs (all), 0 of best candidates only (at most 0 bits)");
  expect(lineOf({ sumsPerPerson: 0.06, openedPerPerson: 0.15 })).toMatch(/\(half\), 0\.15 of .* \(at most 4\.9 bits\)/);
});
