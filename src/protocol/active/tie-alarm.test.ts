import { expect, test } from "vitest";
import { isAlarming, type Tie } from "./tie-alarm.ts";

const scattered = [0, 7, 14, 21, 28, 35, 42, 49];
const tie: Tie = { sampledCount: 100, ranks: scattered, tiedCount: 8, splittingCount: 60 };

test("many ranks far apart, in a large node", () => {
  expect(isAlarming(tie)).toBe(true);
});

test.each<[string, Partial<Tie>]>([
  ["a few copies of a column", { ranks: scattered.slice(0, 7), tiedCount: 7 }],
  ["neighbouring thresholds with no instance between them", { ranks: scattered.map((_, i) => 20 + 2 * i) }],
  ["a small node", { sampledCount: 49 }],
  ["a small part of many candidates", { splittingCount: 65 }],
  ["no tie", { ranks: [3], tiedCount: 1 }],
])("%s: none", (_name, change) => expect(isAlarming({ ...tie, ...change })).toBe(false));

test("with noise hardly anything ties", () => {
  expect(isAlarming({ sampledCount: 20, ranks: null, tiedCount: 8, splittingCount: 0 })).toBe(true);
  expect(isAlarming({ sampledCount: 20, ranks: null, tiedCount: 2, splittingCount: 0 })).toBe(false);
});
