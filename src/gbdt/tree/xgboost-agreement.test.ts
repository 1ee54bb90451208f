import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { earliestXgboost, exportWords, versionWords, requireXgboostForm } from "./xgboost-agreement.ts";

test("an export says which XGBoost can load it", () => {
  expect(exportWords("binary:logistic")).toBe(
    "XGBoost 1.7 or later predicts the same to 1e-6, relative to max(1, |prediction|)",
  );
  for (const objective of ["reg:gamma", "survival:aft", "count:poisson"] as const)
    expect(exportWords(objective)).toMatch(/predicts the same to 1e-5, relative to max\(1, \|prediction\|\)$/);
  expect(exportWords("reg:quantileerror")).toMatch(/^XGBoost 2\.0 or later predicts/);
  expect(earliestXgboost("reg:absoluteerror")).toBe("1.7");
});

test("help says which XGBoost most exports need, and which need another", () => {
  expect(versionWords()).toMatch(/^XGBoost 1\.7 or later \(.*\breg:quantileerror: 2\.0\b.*\)$/);
});

test("an objective that XGBoost has not is not exported", async () => {
  await expectError(
    () => requireXgboostForm({ name: "reg:cauchy", xgboost: null }),
    "USAGE",
    /no objective reg:cauchy/,
  );
});
