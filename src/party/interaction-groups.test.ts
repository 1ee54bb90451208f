import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { checkOwnGroups, impossibleGroups } from "./interaction-groups.ts";

test("a job that names no group of this party's, or groups that cannot be, is refused; names stay here", async () => {
  checkOwnGroups({}, "a,b", "shop");
  checkOwnGroups({ b: ["income"] }, "a,b", "shop");
  for (const ofJob of ["", "a,b"]) {
    const error = await expectError(
      () => checkOwnGroups({ secret: ["income"] }, ofJob, "shop"),
      "POLICY",
      /interaction_constraints: (no groups|the groups a, b) requested/,
    );
    expect(error.message).not.toMatch(/secret|income/);
  }
  const many = Array.from({ length: 31 }, (_, i) => `g${String(i).padStart(2, "0")}`);
  for (const text of ["b,a", "a,a", "a,", ",", "a b", "x".repeat(33), many.join()])
    expect(impossibleGroups(text), text).toMatch(/^interaction_groups: up to 30 names/);
  for (const text of ["", "a", "a,b", many.slice(1).join()]) expect(impossibleGroups(text), text).toBe(false);
});
