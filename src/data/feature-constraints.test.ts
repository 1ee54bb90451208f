import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { checkFeatureConstraints, constraintsOfParty, noConstraints } from "./feature-constraints.ts";

const groups = (interaction_constraints: Record<string, string[]>) => ({ interaction_constraints });

test("a constraint of what is no feature, or of categories, is refused", async () => {
  const features = ["age", "income"];
  checkFeatureConstraints("shop.csv", groups({ a: ["age"], b: [] }), features);
  checkFeatureConstraints("shop.csv", { monotone_constraints: { age: 0 } }, features, {
    age: { names: [], where: "" },
  });
  await expectError(
    () => checkFeatureConstraints("shop.csv", groups({ a: ["age", "incme"] }), features),
    "COLUMN_UNKNOWN",
    /shop.csv: interaction_constraints names 'incme' in group 'a', which is no feature; did you mean 'income'/,
  );
  await expectError(
    () => checkFeatureConstraints("shop.csv", { monotone_constraints: { agee: 1 } }, features),
    "COLUMN_UNKNOWN",
    /shop.csv: monotone_constraints names 'agee', which is no feature; did you mean 'age'/,
  );
});

test("a party has the constraints of its own features; the active party names every group", () => {
  const all = { monotone_constraints: { age: 1, income: -1 } as const, ...groups({ a: ["age", "income"], b: [] }) };
  expect(constraintsOfParty(all, ["age"], true)).toEqual({
    monotone_constraints: { age: 1 },
    interaction_constraints: { a: ["age"], b: [] },
  });
  expect(constraintsOfParty(all, ["income"], false)).toEqual({
    monotone_constraints: { income: -1 },
    interaction_constraints: { a: ["income"] },
  });
  expect(constraintsOfParty({}, ["income"], false)).toEqual(noConstraints);
});
