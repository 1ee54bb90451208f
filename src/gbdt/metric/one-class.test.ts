import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { absenceWords, absentMetrics, requireDeciding } from "./one-class.ts";

test("metrics of class separation are undefined for one class; the others are defined", () => {
  expect(absentMetrics(["auc", "aucpr", "ks", "logloss", "error"], [1, 1, 1])).toEqual(["auc", "aucpr", "ks"]);
  expect(absentMetrics(["auc", "logloss"], [1, 0, 1])).toEqual([]);
  expect(absentMetrics(["rmse"], [2, 2])).toEqual([]);
  expect(absentMetrics(["auc", "mlogloss"], [0, 2, 0], 3)).toEqual(["auc"]);
  expect(absentMetrics(["auc", "mlogloss"], [0, 2, 1], 3)).toEqual([]);
});

test("the message names the metrics and the rows", () => {
  expect(absenceWords(["auc", "ks", "logloss"], [0, 0], "test")).toBe(
    "all 2 test rows have the same label: auc and ks do not exist there",
  );
  expect(absenceWords(["auc"], [0, 0, 0], "validation")).toMatch(/^all 3 validation rows .* auc does not exist there$/);
  expect(absenceWords(["auc"], [0, 1], "test")).toBeNull();
  expect(absenceWords(["auc"], [0, 3, 3], "test", 4)).toBe(
    "all 3 test rows have 2 of 4 classes: auc does not exist there",
  );
});

test("a choice needs a last metric that is defined", async () => {
  await expectError(() => requireDeciding(["logloss", "auc"], [1, 1], 0), "LABEL_INVALID", /auc does not exist.*last/);
  await expectError(
    () => requireDeciding(["auc"], [0, 1], 3, "the search"),
    "LABEL_INVALID",
    /have 2 of 3 classes: auc does not exist there, but the search needs it\. .* such as mlogloss/,
  );
  expect(() => requireDeciding(["auc", "logloss"], [1, 1], 0)).not.toThrow();
  expect(() => requireDeciding(["logloss", "auc"], [1, 0], 0)).not.toThrow();
  expect(() => requireDeciding(["auc"], [1, 0, 2], 3)).not.toThrow();
});
