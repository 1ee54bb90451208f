import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { binCategories, categoryCountMax, oneHotBelow } from "./category-binning.ts";

const names = ["rent", "own", "free", "other"];

test("bins are the categories, the most frequent first, then in the order of their texts", () => {
  const { categories, binCount, hasMissing, bins, oneHot } = binCategories(
    "home",
    Float32Array.of(1, 0, 2, 1, NaN, 3, 1),
    names,
    4,
  );
  expect(categories).toEqual(["own", "free", "other", "rent"]);
  expect([binCount, hasMissing, oneHot]).toEqual([4, true, false]);
  expect([...bins]).toEqual([0, 3, 1, 0, 4, 2, 0]);
});

test("with XGBoost's order they are numbered by their texts, whatever their frequency", () => {
  const codes = Float32Array.of(1, 0, 2, 1, NaN, 3, 1);
  const { categories, bins } = binCategories("home", codes, names, 4, null, "text");
  expect(categories).toEqual(["free", "other", "own", "rent"]);
  expect([...bins]).toEqual([2, 3, 0, 2, 4, 1, 2]);
});

test("only training rows count; categories that they do not have are beyond all bins", () => {
  const { categories, bins, hasMissing, oneHot } = binCategories(
    "home",
    Float32Array.of(1, 0, 2, 2, NaN),
    names,
    3,
    Uint32Array.of(1, 2, 3),
  );
  expect(categories).toEqual(["free", "rent"]);
  expect(hasMissing).toBe(false);
  expect(oneHot).toBe(true);
  expect([...bins]).toEqual([3, 1, 0, 0, 2]);
});

test("a column without a value has no category", () => {
  expect(binCategories("home", Float32Array.of(NaN, NaN), names, 4)).toMatchObject({
    categories: [],
    binCount: 0,
    hasMissing: true,
    oneHot: true,
  });
});

test("too many categories are rejected with the column's name", async () => {
  const many = Array.from({ length: categoryCountMax + 1 }, (_, i) => `id ${i}`);
  const codes = Float32Array.from(many, (_, i) => i);
  await expectError(
    () => binCategories("account", codes, many, 4),
    "USAGE",
    /'account' has 4097 categories, more than 4096\. Leave it out/,
  );
  expect(binCategories("account", codes.subarray(1), many, 4).binCount).toBe(categoryCountMax);
});

test("vector leaves allow one category at a time only", () => {
  const given = (more: object) =>
    oneHotBelow(resolveParameters(trainingParameters, { max_cat_to_onehot: 7, num_class: 3, ...more }));
  expect(given({})).toBe(7);
  expect(given({ objective: "multi:softprob" })).toBe(7);
  expect(given({ objective: "multi:softprob", multi_strategy: "multi_output_tree" })).toBeGreaterThan(categoryCountMax);
});
