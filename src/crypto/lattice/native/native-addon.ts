/**
 * TypeScript declarations of the lattice functions of the native addon (native/lattice-calls.cpp). Every function is
 * deterministic; promises resolve to the index of the first rejected element, or -1. Integers of 16 bytes are
 * little-endian.
 */
import { loadAddonFile } from "../../native-addon-file.ts";
import type { Refused } from "../kernel.ts";

declare const contextBrand: unique symbol;

/** Opaque handle: set, plaintext modulus and public rows. */
export interface LatticeContext {
  readonly [contextBrand]: true;
}

/** Portable C++; AVX2 with FMA and AES; the same with AVX-512 in places (native/lattice-kernel.h). */
export type NativeLatticeName = "scalar" | "avx2" | "avx512";

export interface NativeLatticeAddon {
  /** What this processor can run, best first. */
  latticeKernels(): NativeLatticeName[];
  createLattice(
    kernel: NativeLatticeName,
    set: "A" | "B",
    rows: number,
    t: Uint8Array,
    slotBits: number,
    crsKey: Uint8Array,
  ): LatticeContext;
  /** Rejects with 0 if a bin is out of range. */
  latticeRowBins(
    c: LatticeContext,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    result: Uint8Array,
    threads: number,
  ): Refused;
  /** Rejects with 0 if a bin is out of range. */
  latticeHints(
    c: LatticeContext,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    chainOffsets: Uint32Array,
    sources: Uint32Array,
    targets: Int32Array,
    seed: Uint8Array,
    words: Uint8Array,
    masks: Uint8Array,
    threads: number,
  ): Refused;
  latticeAccumulate(
    c: LatticeContext,
    rowBins: Uint8Array,
    binCounts: Uint32Array,
    records: Uint8Array,
    firstRow: number,
    cells: BigUint64Array,
    threads: number,
  ): Refused;
  latticeMaskProducts(
    c: LatticeContext,
    masks: Uint8Array,
    maskRecords: Uint8Array,
    candidateCount: number,
    products: BigInt64Array,
    threads: number,
  ): Refused;
  latticeAnswer(
    c: LatticeContext,
    cells: BigUint64Array,
    chainOffsets: Uint32Array,
    sources: Uint32Array,
    targets: Int32Array,
    products: BigInt64Array,
    noise: Float64Array | null,
    smudgingWidth: Uint8Array,
    seed: Uint8Array,
    words: Uint8Array,
    threads: number,
  ): Refused;
  latticeLoadHints(
    c: LatticeContext,
    words: Uint8Array,
    firstCandidate: number,
    table: BigUint64Array,
    threads: number,
  ): Refused;
  latticeDots(
    c: LatticeContext,
    table: BigUint64Array,
    candidateCount: number,
    seeds: Uint8Array,
    dots: BigUint64Array,
    threads: number,
  ): Refused;
  latticeSeal(
    c: LatticeContext,
    seed: Uint8Array,
    columns: readonly Int32Array[],
    firstRecord: number,
    records: Uint8Array,
    threads: number,
  ): Refused;
  latticeOpen(
    c: LatticeContext,
    dots: BigUint64Array,
    candidateCount: number,
    words: Uint8Array,
    positions: Uint32Array | null,
    sums: Float64Array,
  ): Refused;
}

/** @throws any error of Node if the file is missing or cannot be loaded on this machine */
export function loadLatticeAddon(): NativeLatticeAddon {
  return loadAddonFile() as NativeLatticeAddon;
}
