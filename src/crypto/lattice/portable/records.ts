/**
 * Records of a node message: residues of all groups and primes, group by group, as fields of 50 bits in one
 * little-endian integer, the first field lowest. Unused upper bits are zero. A residue not below its prime is rejected:
 * the encoding is unique, so no record can be marked by an alternative encoding.
 */
import { assert } from "../../../base/assert.ts";
import { laneCount, type LatticeSet } from "../parameters/sets.ts";

const halfBits = 25;
const half = 2 ** halfBits;

/**
 * @param lanes residues, lane by lane of each record
 * @param records output, one whole record per set of lanes
 */
export function packRecords(set: LatticeSet, lanes: Float64Array, records: Uint8Array): void {
  const width = laneCount(set);
  const count = lanes.length / width;
  assert(records.length === count * set.recordBytes, "as many records as residues");
  for (let i = 0, at = 0; i < count; i++) {
    let held = 0;
    let heldBits = 0;
    for (let lane = 0; lane < 2 * width; lane++) {
      const residue = lanes[i * width + (lane >> 1)];
      const upper = Math.floor(residue / half);
      held += (lane % 2 === 0 ? residue - upper * half : upper) * 2 ** heldBits;
      for (heldBits += halfBits; heldBits >= 8; heldBits -= 8) {
        records[at++] = held & 0xff;
        held = Math.floor(held / 256);
      }
    }
    if (heldBits > 0) records[at++] = held;
  }
}

/**
 * @param lanes output
 * @returns the index of the first record that is not canonical, or -1
 */
export function unpackRecords(set: LatticeSet, records: Uint8Array, lanes: Float64Array): number {
  const width = laneCount(set);
  const count = records.length / set.recordBytes;
  assert(Number.isInteger(count) && lanes.length === count * width, "whole records, and room for their residues");
  const primes = set.primes.map(Number);
  for (let i = 0, at = 0; i < count; i++) {
    let held = 0;
    let heldBits = 0;
    for (let lane = 0; lane < width; lane++) {
      let residue = 0;
      for (let scale = 1; scale <= half; scale *= half) {
        for (; heldBits < halfBits; heldBits += 8) held += records[at++] * 2 ** heldBits;
        const rest = Math.floor(held / half);
        residue += (held - rest * half) * scale;
        held = rest;
        heldBits -= halfBits;
      }
      if (residue >= primes[lane % primes.length]) return i;
      lanes[i * width + lane] = residue;
    }
    if (held !== 0) return i;
  }
  return -1;
}
