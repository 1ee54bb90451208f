/**
 * Which candidates of a feature partition its bins in the same way, for any data: one category of two and the other,
 * "present left, missing right" and its mirror image. Their sums are equal except for the side.
 */
import { type BinnedFeature, totalBinCount } from "./binning.ts";
import { candidatesOf, leftBins } from "./candidate.ts";

/** The first candidate with the same partition of the bins; sign -1 if its left side is this one's right. */
export interface Partition {
  readonly first: number;
  readonly sign: 1 | -1;
}

/** Per candidate, in the order of candidatesOf. */
export function distinctPartitions(feature: BinnedFeature): Partition[] {
  const known = new Map<string, Partition>();
  return candidatesOf(feature).map((candidate, i) => {
    const left = leftBins(feature, candidate).subarray(0, totalBinCount(feature));
    const found = known.get(left.join(""));
    if (found !== undefined) return found;
    const own: Partition = { first: i, sign: 1 };
    known.set(left.join(""), own).set(left.map((isLeft) => 1 - isLeft).join(""), { first: i, sign: -1 });
    return own;
  });
}
