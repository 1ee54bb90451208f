/** The grid of the golden comparisons with XGBoost. */
import { expect } from "vitest";
import type { Quantise } from "../../src/gbdt/boost/train.ts";

/** So fine that rounding is far below XGBoost's own float32: 2^-36, with shifted sums of 500 rows below 2^53. */
export const quantiseFinely: Quantise = ({ values }) => {
  const resolution = 2 ** -36;
  const shiftOf = (i: number): number => (i % 2 === 0 ? -64 : 0);
  const slot = (values: Float64Array, shift: number): Float64Array =>
    values.map((value) => {
      const integer = Math.round((value - shift) / resolution);
      expect(integer).toBeGreaterThanOrEqual(0);
      expect(integer * values.length).toBeLessThan(2 ** 53);
      return integer;
    });
  return {
    instanceCount: values[0].length,
    grids: values.map((_, i) => ({ shift: shiftOf(i), resolution })),
    columns: values.map((column, i) => slot(column, shiftOf(i))),
  };
};
