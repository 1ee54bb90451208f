/** Serialised cells: for every bin a residue per lane, 8 bytes each, little-endian. */
import { assert } from "../../base/assert.ts";
import { laneCount, type LatticeSet } from "./parameters/sets.ts";

const residueBytes = 8;

/** @param residueAt a bin's residue of a lane, canonical */
export function cellBytes(
  set: LatticeSet,
  binCount: number,
  residueAt: (bin: number, lane: number) => bigint,
): Uint8Array {
  const lanes = laneCount(set);
  const bytes = new Uint8Array(binCount * lanes * residueBytes);
  const view = new DataView(bytes.buffer);
  for (let bin = 0; bin < binCount; bin++)
    for (let lane = 0; lane < lanes; lane++)
      view.setBigUint64((bin * lanes + lane) * residueBytes, residueAt(bin, lane), true);
  return bytes;
}

/** @param add adds a residue to a bin's lane, given its prime */
export function readCells(
  set: LatticeSet,
  binCount: number,
  bytes: Uint8Array,
  add: (bin: number, lane: number, residue: bigint, prime: bigint) => void,
): void {
  const lanes = laneCount(set);
  assert(bytes.length === binCount * lanes * residueBytes, "a residue for every bin and lane");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let bin = 0; bin < binCount; bin++)
    for (let lane = 0; lane < lanes; lane++) {
      const prime = set.primes[lane % set.primes.length];
      const residue = view.getBigUint64((bin * lanes + lane) * residueBytes, true);
      assert(residue < prime, "canonical residues");
      add(bin, lane, residue, prime);
    }
}
