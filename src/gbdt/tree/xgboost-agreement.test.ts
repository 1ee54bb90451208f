import { expect, test } from "vitest";
import { earliestXgboost, exportWords } from "./xgboost-agreement.ts";

test("an export says which XGBoost can load it", () => {
  expect(exportWords("binary:logistic")).toBe(
    "XGBoost 1.7 or later predicts the same to 1e-6, relative to max(1, |prediction|)",
  );
  expect(exportWords("reg:quantileerror")).toMatch(/^XGBoost 2\.0 or later predicts/);
  expect(earliestXgboost("reg:absoluteerror")).toBe("1.7");
});
