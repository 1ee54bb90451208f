import { expect, test } from "vitest";
import { noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import { UncountedSums } from "./uncounted-sums.ts";

const columns = [Float64Array.of(-2, 3, 1, 9), Float64Array.of(1, 2, 1, 9)];
const node = { sampled: Uint32Array.of(0, 1, 2), totals: Float64Array.of(2, 4, 3) };
const fault = (g: number, h: number): string | null =>
  new UncountedSums({ columns }, [0]).fault(
    { ...noCandidates, rows: Float64Array.of(g, h, 0), suppressed: new Uint8Array(1) },
    node,
  );

test("sums that are possible for a node are accepted, and no others", () => {
  expect([fault(0, 0), fault(-2, 1), fault(4, 3), fault(2, 4)]).toEqual([null, null, null, null]);
  const wrong = "a sum that instances of the node cannot have";
  // Below the sum of the negative values, above that of the positive ones, a hessian below 0, or above the total.
  expect([fault(-3, 1), fault(5, 1), fault(1, -1), fault(1, 5)]).toEqual([wrong, wrong, wrong, wrong]);
});
