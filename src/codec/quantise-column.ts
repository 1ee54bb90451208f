/** Quantises columns of gradients. Apart from slot.ts, which runs in browsers too, where there is no addon. */
import { rowLoops } from "../base/rows/row-loops.ts";
import { quantiseValue, type Slot, slotResolution } from "./slot.ts";

/** quantiseValue for a whole column, with invariants hoisted out of the loop. */
export function quantiseColumn(slot: Slot, values: Float64Array): Float64Array {
  const { shift, alpha, alphaMax, noise } = slot;
  const levels = 2 ** slot.r;
  const quantised = new Float64Array(values.length);
  if (noise !== undefined) {
    const { largest } = noise;
    const top = shift + alpha;
    const resolution = slotResolution(slot);
    const bad = rowLoops().round(values, { shift, top, resolution, largest }, quantised);
    if (bad >= 0) quantiseValue(slot, values[bad]); // throws
    return quantised;
  }
  for (let i = 0; i < values.length; i++) {
    const shifted = values[i] - shift;
    quantised[i] =
      shifted >= 0 ? Math.floor((levels * Math.min(shifted, alpha)) / alphaMax + 0.5) : quantiseValue(slot, values[i]);
  }
  return quantised;
}
