import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { checkGroupedFeatures, checkOwnGroups, groupsOfTables, impossibleGroups } from "./interaction-groups.ts";

test("the groups of several tables, each once and ascending", () => {
  expect(groupsOfTables([{ interactions: { b: ["x"], a: [] } }, {}, { interactions: { b: ["y"], "0c": ["z"] } }])).toBe(
    "0c,a,b",
  );
  expect(groupsOfTables([{}])).toBe("");
});

test("a job that names no group of this party's, or groups that cannot be, is refused; names stay here", async () => {
  checkOwnGroups({}, "a,b", "shop");
  checkOwnGroups({ b: ["income"] }, "a,b", "shop");
  for (const ofJob of ["", "a,b"]) {
    const error = await expectError(
      () => checkOwnGroups({ secret: ["income"] }, ofJob, "shop"),
      "POLICY",
      /interaction_constraints: (no groups|the groups a, b) asked/,
    );
    expect(error.message).not.toMatch(/secret|income/);
  }
  const many = Array.from({ length: 31 }, (_, i) => `g${String(i).padStart(2, "0")}`);
  for (const text of ["b,a", "a,a", "a,", ",", "a b", "x".repeat(33), many.join()])
    expect(impossibleGroups(text), text).toMatch(/^interaction_groups: up to 30 names/);
  for (const text of ["", "a", "a,b", many.slice(1).join()]) expect(impossibleGroups(text), text).toBe(false);
});

test("a group of what is no feature", async () => {
  checkGroupedFeatures("shop.csv", { a: ["age"], b: [] }, ["age", "income"]);
  await expectError(
    () => checkGroupedFeatures("shop.csv", { a: ["age", "incme"] }, ["age", "income"]),
    "COLUMN_UNKNOWN",
    /shop.csv: interaction_constraints names 'incme' in group 'a', which is no feature; did you mean 'income'/,
  );
});
