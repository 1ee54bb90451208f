import { expect, test } from "vitest";
import { membershipFacts } from "../base/membership.ts";
import { noDefences } from "./defences/defences.ts";
import { type GaugedFacts, gaugeOf, gaugeText } from "./job-gauge.ts";

const facts: GaugedFacts = {
  active: "bank",
  passive: "shop",
  trees: 50,
  depth: 3,
  leaves: 0,
  classes: 0,
  instances: 22_500,
  defences: noDefences,
  memberships: [membershipFacts.sent],
  validationRows: null,
  columnsAreSampled: null,
  alignment: null,
};

function textOf(change: Partial<GaugedFacts>): string {
  const gauge = gaugeOf({ ...facts, ...change });
  return gauge === null ? "" : gaugeText(gauge);
}

test("the number and what it means", () => {
  expect(textOf({})).toBe("bank gets up to 0.027 exact sums per person of shop: they reveal a part of its columns.");
  // A bound is not rounded down: these are 0.00533 and 0.0533.
  expect(textOf({ trees: 10 })).toMatch(/0.0054 exact sums .* reveal little/);
  expect(textOf({ depth: 4 })).toMatch(/0.054 .* about half/);
  expect(textOf({ depth: 5 })).toMatch(/0.11 exact sums .* nearly all/);
  expect(textOf({ defences: { ...noDefences, answer_noise: 10 } })).toMatch(
    /0.018 sums per person of shop, with noise: 'tandem audit' shows/,
  );
  expect(textOf({ defences: { ...noDefences, answer_noise: 0.01 }, depth: 6 }), "noise that hides no instance").toMatch(
    /exact sums .* nearly all/,
  );
  // Of 7 nodes of a tree of depth 3 a candidate may be opened, siblings included: two numbers each.
  expect(textOf({ defences: { ...noDefences, hidden_sums: true } })).toBe(
    "bank gets up to 0.032 sums per person of shop, of the best candidate of each node only: they reveal at most " +
      "1.1 bits per person, all columns together.",
  );
  expect(textOf({ validationRows: 20_250 }), "sums are over a tenth").toMatch(/0.27 exact sums .* nearly all/);
});

test("no text where the number cannot be known", () => {
  expect(textOf({ instances: null })).toBe("");
  expect(textOf({ depth: 0 })).toBe("");
});

test("before alignment the bound depends on how many instances are common, and says so", () => {
  const text = textOf({ alignment: { activeIds: 5000, passiveIds: null } });
  expect(text).toMatch(
    /up to 0\.027 exact sums .* holds if all of bank's rows are common; with half .* it is 0\.054\.$/,
  );
  expect(textOf({ alignment: { activeIds: 5000, passiveIds: 700 } })).toBe(textOf({}));
});
