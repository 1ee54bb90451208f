/**
 * Answers by the portable kernel: u_c = sum of b_i over rows i of c + <p, r_c> + f_c. Cells are residues per bin and
 * lane, as doubles.
 */
import { assert } from "../../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import type { BinChains } from "../kernel.ts";
import type { GroupColumn } from "./multipliers.ts";
import { unpackRecords } from "./records.ts";
import { add, type Prime, residueOf, residueOfInteger } from "./residues.ts";
import { binBytes } from "./rows-by-bin.ts";
import { drawSmudgingSample } from "./samplers.ts";
import { laneCount, type LatticeSet } from "../parameters/sets.ts";
import { smudgingPerStream, KeyStream } from "./streams.ts";

/** Adds rows to the cells of their bins. If a record is rejected, nothing is added. */
export async function accumulateRows(
  set: LatticeSet,
  primes: readonly Prime[],
  rowBins: Uint8Array,
  binCounts: Uint32Array,
  records: Uint8Array,
  firstRow: number,
  cells: Float64Array,
): Promise<number> {
  const lanes = laneCount(set);
  const residues = new Float64Array((records.length / set.recordBytes) * lanes);
  const refused = unpackRecords(set, records, residues);
  if (refused >= 0) return refused;
  const width = binBytes(binCounts);
  const rowCount = residues.length / lanes;
  let at = firstRow * binCounts.length * width;
  assert(at + rowCount * binCounts.length * width <= rowBins.length, "the records belong to existing rows");
  for (let row = 0; row < rowCount; row++) {
    let firstBin = 0;
    for (let feature = 0; feature < binCounts.length; feature++, at += width) {
      const bin = width === 1 ? rowBins[at] : rowBins[at] + 256 * rowBins[at + 1];
      const cell = (firstBin + bin) * lanes;
      for (let lane = 0; lane < lanes; lane++)
        cells[cell + lane] = add(cells[cell + lane], residues[row * lanes + lane], primes[lane % primes.length]);
      firstBin += binCounts[feature];
    }
    if (row % 256 === 255 && isSliceOver()) await nextSlice();
  }
  return -1;
}

/** <p, r_c> of every candidate and lane. Halves of 25 bits, so that sums of N of them are exact. */
export async function addMasks(
  set: LatticeSet,
  primes: readonly Prime[],
  masks: Uint8Array,
  maskRecords: Uint8Array,
  candidateCount: number,
  products: BigInt64Array,
): Promise<number> {
  const { degree } = set;
  const lanes = laneCount(set);
  assert(maskRecords.length === degree * set.recordBytes, "the mask row has N records");
  assert(products.length === candidateCount * lanes, "a product per candidate and lane");
  const residues = new Float64Array(degree * lanes);
  const refused = unpackRecords(set, maskRecords, residues);
  if (refused >= 0) return refused;
  const upper = residues.map((residue) => Math.floor(residue / 2 ** 25));
  const lower = residues.map((residue, i) => residue - upper[i] * 2 ** 25);
  const secrets = new Int8Array(masks.buffer, masks.byteOffset, masks.length);
  for (let c = 0; c < candidateCount; c++) {
    for (let lane = 0; lane < lanes; lane++) {
      let high = 0;
      let low = 0;
      for (let j = 0, at = lane; j < degree; j++, at += lanes) {
        const digit = secrets[c * degree + j];
        high += digit * upper[at];
        low += digit * lower[at];
      }
      const sum = BigInt(high) * 2n ** 25n + BigInt(low);
      products[c * lanes + lane] = BigInt(residueOfInteger(sum, primes[lane % primes.length]));
    }
    if (isSliceOver()) await nextSlice();
  }
  return -1;
}

/** Sums of a candidate's bins, lane by lane, for every candidate at which a chain ends. */
export function forEachSum(
  primes: readonly Prime[],
  lanes: number,
  cells: Float64Array,
  { chainOffsets, sources, targets }: BinChains,
  take: (position: number, sums: Float64Array) => void,
): void {
  for (let chain = 0; chain + 1 < chainOffsets.length; chain++) {
    const sums = new Float64Array(lanes);
    for (let step = chainOffsets[chain]; step < chainOffsets[chain + 1]; step++) {
      for (let lane = 0; lane < lanes; lane++)
        sums[lane] = add(sums[lane], cells[sources[step] * lanes + lane], primes[lane % primes.length]);
      if (targets[step] >= 0) take(targets[step], sums);
    }
  }
}

/** Smudging noise of all candidates, group by group; that of 256 candidates comes from one stream. */
export function drawSmudging(seed: Uint8Array, candidateCount: number, groups: number, width: bigint): bigint[] {
  const smudging: bigint[] = [];
  for (let first = 0; first < candidateCount; first += smudgingPerStream) {
    const stream = new KeyStream(seed, "smudging", 0, first / smudgingPerStream);
    const count = Math.min(smudgingPerStream, candidateCount - first) * groups;
    for (let i = 0; i < count; i++) smudging.push(drawSmudgingSample(stream, width));
  }
  return smudging;
}

/**
 * What is added to a candidate's sum of one group besides the mask: its smudging noise, and the multiples of answer
 * noise.
 * @param noise g and h of every candidate, or null
 */
export function addedOf(
  smudging: bigint,
  columns: readonly GroupColumn[],
  noise: Float64Array | null,
  position: number,
): bigint {
  if (noise === null) return smudging;
  return columns.reduce((sum, { column, multiplier }) => {
    return sum + multiplier * BigInt(noise[2 * position + column]);
  }, smudging);
}

/** A lane of u_c. */
export function answerLane(sum: number, product: bigint, added: bigint, prime: Prime): number {
  const masked = add(sum, residueOf(Number(product), prime), prime);
  return add(masked, residueOfInteger(added, prime), prime);
}
