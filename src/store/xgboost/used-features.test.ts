import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import type { SplitRule } from "../../gbdt/tree/tree.ts";
import { withUsedFeatures } from "./used-features.ts";

const leaf = { kind: "leaf", weight: 0.5, cover: 1, count: 1 } as const;
const modelOf = (...rules: (readonly [owner: number, feature: number, name: string])[]): Model => ({
  objective: "binary:logistic",
  baseMargin: 0,
  trees: rules.map(([owner, feature, featureName]) => [
    {
      kind: "split",
      left: 1,
      right: 2,
      gain: 1,
      cover: 2,
      count: 2,
      rule: { owner, feature, featureName, threshold: 1.5, defaultLeft: true },
    },
    leaf,
    leaf,
  ]),
});
const rulesOf = ({ trees }: Model): SplitRule[] =>
  trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule] : []));

test("only features used in splits remain, in their owner's order; rules are otherwise unchanged", () => {
  const before = modelOf([1, 7, "visits"], [0, 4, "income"], [1, 2, "basket"], [0, 4, "income"], [1, 7, "visits"]);
  const { model, features } = withUsedFeatures(before, 3);
  expect(features).toEqual([["income"], ["basket", "visits"], []]);
  expect(rulesOf(model)).toEqual(
    rulesOf(before).map((rule) => ({ ...rule, feature: features[rule.owner].indexOf(rule.featureName) })),
  );
});

test("two columns of one name are two features", () => {
  expect(withUsedFeatures(modelOf([0, 1, "x"], [0, 3, "x"]), 1).features).toEqual([["x", "x"]]);
});

test("one feature with two names is rejected", async () => {
  await expectError(
    () => withUsedFeatures(modelOf([1, 1, "x"], [1, 1, "y"]), 2),
    "FILE_FORMAT",
    /party 1 has two names for its feature 1/,
  );
});

test("a model without a split is rejected: XGBoost refuses one without features", async () => {
  await expectError(() => withUsedFeatures({ ...modelOf(), trees: [[leaf]] }, 2), "USAGE", /has no split/);
});
