import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { withClassCount } from "./outputs.ts";

test("num_class follows from the class names, and must not contradict them", async () => {
  const parameters = resolveParameters(trainingParameters, { objective: "multi:softprob" });
  const binary = resolveParameters(trainingParameters, { objective: "binary:logistic" });
  expect(withClassCount(parameters, ["a", "b", "c"]).num_class).toBe(3);
  expect(withClassCount({ ...parameters, num_class: 3 }, ["a", "b", "c"]).num_class).toBe(3);
  expect(withClassCount({ ...parameters, num_class: 4 }, null).num_class).toBe(4);
  expect(withClassCount({ ...binary, num_class: 0 }, ["a", "b"]).num_class).toBe(0);
  await expectError(
    () => withClassCount({ ...parameters, num_class: 2 }, ["a", "b", "c"]),
    "USAGE",
    /num_class is 2.*3/,
  );
});
