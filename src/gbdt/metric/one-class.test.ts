import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { absenceWords, absentMetrics, requireDeciding } from "./one-class.ts";

test("metrics that separate classes do not exist where there is one; the others do", () => {
  expect(absentMetrics(["auc", "aucpr", "ks", "logloss", "error"], [1, 1, 1])).toEqual(["auc", "aucpr", "ks"]);
  expect(absentMetrics(["auc", "logloss"], [1, 0, 1])).toEqual([]);
  expect(absentMetrics(["rmse"], [2, 2])).toEqual([]);
});

test("people are told which, and of which rows", () => {
  expect(absenceWords(["auc", "ks", "logloss"], [0, 0], "test")).toBe(
    "all 2 test rows have the same label: auc and ks do not exist there",
  );
  expect(absenceWords(["auc"], [0, 0, 0], "validation")).toMatch(/^all 3 validation rows .* auc does not exist there$/);
  expect(absenceWords(["auc"], [0, 1], "test")).toBeNull();
});

test("early stopping needs a last metric that exists", async () => {
  await expectError(() => requireDeciding(["logloss", "auc"], [1, 1]), "LABEL_INVALID", /auc does not exist.*last/);
  expect(() => requireDeciding(["auc", "logloss"], [1, 1])).not.toThrow();
  expect(() => requireDeciding(["logloss", "auc"], [1, 0])).not.toThrow();
});
