import { expect, test } from "vitest";
import { nearestName, suggestion } from "./nearest-name.ts";

test("nearestName counts insertions, deletions, substitutions and swaps; the first wins a tie", () => {
  expect(nearestName("lamda", ["gamma", "lambda", "eta"])).toBe("lambda");
  expect(nearestName("etaa", ["lambda", "eta"])).toBe("eta");
  expect(nearestName("agian", ["gain", "again"])).toBe("again");
  expect(nearestName("abx", ["abc", "abd"])).toBe("abc");
});

test("nearestName ignores case", () => {
  expect(nearestName("AGE", ["wage", "age"])).toBe("age");
});

test("nearestName finds nothing beyond a third of the length", () => {
  expect(nearestName("visits", ["age", "income"])).toBe(null);
  expect(nearestName("abxx", ["abcd"])).toBe(null);
  expect(nearestName("abcdxx", ["abcdef"])).toBe("abcdef");
  expect(nearestName("anything", [])).toBe(null);
});

test("nearestName finds the only name that contains the misspelt one", () => {
  expect(nearestName("Default", ["AGE", "default.payment.next.month"])).toBe("default.payment.next.month");
  expect(nearestName("PAY_", ["PAY_0", "PAY_AMT1", "PAY_AMT2"]), "nearer").toBe("PAY_0");
  expect(nearestName("AMOUNT", ["AMOUNT_OF_BILL_1", "AMOUNT_OF_BILL_2"]), "two").toBe(null);
  expect(nearestName("age", ["the_age_of_the_person"]), "too short").toBe(null);
});

test("suggestion proposes the nearest name, otherwise lists up to a dozen, and nothing where there is none", () => {
  expect(suggestion("lamda", ["gamma", "lambda"])).toBe("; did you mean 'lambda'?");
  expect(suggestion("visits", ["age", "income"])).toBe("; there are: 'age', 'income'");
  const many = Array.from({ length: 14 }, (_, i) => `column${i}`);
  expect(suggestion("x", many)).toMatch(/^; there are: 'column0', .*'column11' and 2 more$/);
  expect(suggestion("anything", [])).toBe("");
});
