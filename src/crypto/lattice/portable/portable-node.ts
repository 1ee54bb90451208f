/** Node messages by the portable kernel: p = a* s + e_p, then b_k = a_k s + e_k + D z, a block of N rows at a time. */
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import type { CommonRows, Limbs } from "./common-rows.ts";
import type { GroupColumn } from "./multipliers.ts";
import { packRecords } from "./records.ts";
import { add, multiply, residueOf, residueOfInteger } from "./residues.ts";
import type { Ring } from "./ring.ts";
import { drawBinomial, drawTernary } from "./samplers.ts";
import { laneCount } from "../parameters/sets.ts";
import { KeyStream } from "./streams.ts";

/** s of a group. */
export function drawNodeSecret(seed: Uint8Array, group: number, degree: number): Int8Array {
  return drawTernary(new KeyStream(seed, "secret", group, 0), degree);
}

/** Errors of a block of rows; of the mask row for block -1. */
export function drawNodeErrors(seed: Uint8Array, group: number, block: number, degree: number): Int8Array {
  const stream = block < 0 ? new KeyStream(seed, "maskError", group, 0) : new KeyStream(seed, "error", group, block);
  return drawBinomial(stream, degree);
}

export interface NodeSealer {
  readonly ring: Ring;
  readonly rows: CommonRows;
  readonly columnsOfGroups: readonly (readonly GroupColumn[])[];
}

export async function sealRecords(
  sealer: NodeSealer,
  seed: Uint8Array,
  columns: readonly Int32Array[],
  firstRecord: number,
  recordCount: number,
  records: Uint8Array,
): Promise<void> {
  const { ring } = sealer;
  const { degree, recordBytes } = ring.set;
  const secrets = sealer.columnsOfGroups.map((_, group) => ring.forward(drawNodeSecret(seed, group, degree)));
  const end = firstRecord + recordCount;
  for (let from = firstRecord; from < end;) {
    const start = from - (from % degree);
    const to = Math.min(end, start + degree);
    const lanes = sealBlock(sealer, seed, secrets, columns, start / degree - 1);
    const width = laneCount(ring.set);
    packRecords(
      ring.set,
      lanes.subarray((from - start) * width, (to - start) * width),
      records.subarray((from - firstRecord) * recordBytes, (to - firstRecord) * recordBytes),
    );
    from = to;
    if (isSliceOver()) await nextSlice();
  }
}

/** Residues of N records, lane by lane. @param block -1: the mask row, which contains no gradients */
function sealBlock(
  { ring, rows, columnsOfGroups }: NodeSealer,
  seed: Uint8Array,
  secrets: readonly Limbs[],
  columns: readonly Int32Array[],
  block: number,
): Float64Array {
  const { set, transforms } = ring;
  const width = laneCount(set);
  const lanes = new Float64Array(set.degree * width);
  const publicRow = block < 0 ? rows.maskRow() : rows.block(block);
  columnsOfGroups.forEach((inGroup, group) => {
    const sealed = ring.product(publicRow, secrets[group]);
    ring.addSmall(sealed, drawNodeErrors(seed, group, block, set.degree));
    if (block >= 0) addPlaintexts(ring, sealed, inGroup, columns, block * set.degree);
    transforms.forEach((_, l) => {
      for (let j = 0, lane = group * transforms.length + l; j < set.degree; j++, lane += width)
        lanes[lane] = sealed[l][j];
    });
  });
  return lanes;
}

/** D z of every row of a block; rows past the last have none. */
function addPlaintexts(
  { set, transforms }: Ring,
  sealed: Limbs,
  inGroup: readonly GroupColumn[],
  columns: readonly Int32Array[],
  firstRow: number,
): void {
  for (const { column, multiplier } of inGroup) {
    const values = columns[column].subarray(firstRow, firstRow + set.degree);
    transforms.forEach(({ prime }, l) => {
      const factor = residueOfInteger(multiplier, prime);
      const limb = sealed[l];
      values.forEach((value, j) => {
        if (value !== 0) limb[j] = add(limb[j], multiply(residueOf(value, prime), factor, prime), prime);
      });
    });
  }
}
