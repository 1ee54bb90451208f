import { expect, test } from "vitest";
import { likeliestClass, predictionColumns as columnsOf } from "./prediction-columns.ts";

/** With their texts written out. */
function predictionColumns(...given: Parameters<typeof columnsOf>) {
  const { names, columns } = columnsOf(...given);
  return { names, columns: columns.map((column) => [...column]) };
}

test("numbers alone where classes have no names", () => {
  expect(predictionColumns(0.5, Float64Array.of(0.25, 0.75), 2, null)).toEqual({
    names: ["prediction"],
    columns: [["0.25", "0.75"]],
  });
  expect(predictionColumns(0.5, Float64Array.of(0.25, 0.75), 1, null).names).toEqual(["prediction_0", "prediction_1"]);
  expect(predictionColumns(0.5, new Float64Array(0), 0, null).columns).toEqual([[]]);
});

test("with names: a column per class, and the likeliest", () => {
  expect(predictionColumns(0.5, Float64Array.of(0.5, 0.25, 0.25, 0.1, 0.2, 0.7), 2, ["x", "y", "z"])).toEqual({
    names: ["prediction_x", "prediction_y", "prediction_z", "class"],
    columns: [
      ["0.5", "0.1"],
      ["0.25", "0.2"],
      ["0.25", "0.7"],
      ["x", "z"],
    ],
  });
  expect(predictionColumns(0.5, Float64Array.of(0.5, 0.51), 2, ["no", "yes"])).toEqual({
    names: ["prediction", "class"],
    columns: [
      ["0.5", "0.51"],
      ["no", "yes"],
    ],
  });
});

test("the first one on a tie; margins are compared with 0; an objective may name the class itself", () => {
  expect(likeliestClass(0.5, Float64Array.of(0.4, 0.4, 0.2), ["x", "y", "z"])).toBe("x");
  expect(likeliestClass(0, Float64Array.of(0.25), ["no", "yes"])).toBe("yes");
  expect(likeliestClass(0.5, Float64Array.of(2), ["x", "y", "z"])).toBe("z");
});
