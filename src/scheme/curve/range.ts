/**
 * The range of sums. A sum is found from its point by a search whose cost grows with the range, so the resolution of
 * gradients follows from the number of rows.
 */
import { TandemError } from "../../base/error.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import type { CodecParameters } from "../../base/parameters/parameters.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { quantisedMax, type Slot } from "../../codec/slot.ts";
import { reachMax } from "../../crypto/curve/kernel.ts";
import type { GridFacts } from "../scheme.ts";

/** Each further bit doubles the range in which logarithms are searched. */
export const resolutionBitsMax = 16;
/** Fewer are used only if the job asks for them. */
const resolutionBitsMin = 8;
/** Sums of a job stay below this magnitude where the resolution allows it: 1,000 giant steps with the largest table. */
const reachWanted = 2 ** 32;

/**
 * The resolution of a job: 16 bits up to 65,536 rows, 12 for a million.
 * @throws TandemError USAGE for the paper's layout, LAYOUT_OVERFLOW if sums cannot be found
 */
export function curveCodec(asked: CodecParameters, facts: GridFacts): CodecParameters {
  if (asked.layout === "paper")
    throw new TandemError("USAGE", "the curve scheme has no paper layout: its sums are too wide. Use layout auto");
  let bits = Math.min(asked.resolution_bits, resolutionBitsMax);
  while (bits > resolutionBitsMin && reachOf(bits, facts) > reachWanted) bits--;
  if (reachOf(bits, facts) <= reachMax) return { ...asked, resolution_bits: bits };
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `the curve scheme cannot find sums of ${facts.rows} gradients at resolution_bits ${bits}. ` +
      "Use less noise or fewer rows, or the paillier scheme",
  );
}

function reachOf(resolutionBits: number, facts: GridFacts): number {
  return facts.rows * 2 ** resolutionBits + (toNoiseScale({ ...facts, resolutionBits })?.max ?? 0);
}

/** A sum differs from `centre` by at most `bound`. */
export interface SumRange {
  readonly centre: number;
  readonly bound: number;
}

/** @param count the number of summed values, at most */
export function sumRange(slot: Slot, count: number): SumRange {
  const { excess = 0, max = 0 } = slot.noise ?? {};
  const low = -(count * excess + max);
  const high = count * quantisedMax(slot) + max;
  const centre = Math.floor((low + high) / 2);
  return { centre, bound: high - centre };
}

/** The largest bound of the job's sums. */
export function layoutReach({ slots, instanceCountMax }: GradientLayout): number {
  return Math.max(...slots.map((slot) => sumRange(slot, instanceCountMax).bound));
}
