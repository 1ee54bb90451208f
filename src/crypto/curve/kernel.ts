/**
 * The interface of a kernel of the curve scheme: points of edwards25519 and numbers modulo its prime order l. Every
 * operation is over a whole batch: a chunk of rows, a node, a piece of an answer. The native addon implements it, and
 * so does the portable TypeScript kernel, which is the oracle for the native one: all bytes are equal.
 *
 * Points are 32 bytes, as RFC 8032 encodes them. Invalid are y >= p, y without x, and x = 0 with a sign bit. Points of
 * small order, and with a component of small order, are valid unless stated otherwise. Scalars are 64 bytes,
 * little-endian, and are reduced modulo l. All randomness comes from the caller (secrets.ts).
 */
import { TandemError } from "../../base/error.ts";

export const pointBytes = 32;
export const wideScalarBytes = 64;
/** The largest magnitude of a sum that can be found from its point. */
export const reachMax = 2 ** 35;

export interface CurveKernel {
  readonly name: string;
  curve(threads: number): Curve;
}

/** Secret numbers modulo l, in a format private to the kernel. */
export interface HeldScalars {
  readonly count: number;
}

/** Points of rows, decoded for addition: row i has the elements i * width + j. */
export interface HeldPoints {
  readonly rowCount: number;
  readonly width: number;
}

/** Sums of points: cell i has the elements i * width + j. */
export interface HeldSums {
  readonly cellCount: number;
  readonly width: number;
}

/** Tables of multiples of public points. */
export interface HeldKeys {
  readonly count: number;
}

/** A table of the logarithms of 64 k B, for magnitudes of at most `reach`. */
export interface Logarithms {
  readonly reach: number;
}

/** Handles belong to the kernel that made them. A call fails an assertion for sizes that do not match. */
export interface Curve {
  readonly kernelName: string;

  // ---- the active party ----

  /** @param wide scalars of wideScalarBytes each */
  scalars(wide: Uint8Array): Promise<HeldScalars>;
  /** Overwrites the numbers. No later call accepts the handle. */
  wipe(scalars: HeldScalars): void;
  /** x B of the scalars at these places, 32 bytes each. In constant time. */
  multiples(scalars: HeldScalars, places: Uint32Array): Promise<Uint8Array>;
  /** Points of rows, row by row, value by value: (q + s h) B. In constant time. */
  encrypt(request: EncryptRequest): Promise<Uint8Array>;
  /**
   * The table for sums up to this magnitude; the same one for every smaller reach, once per process.
   * @param reach at most reachMax
   */
  logarithms(reach: number): Promise<Logarithms>;
  /**
   * Sums of consecutive candidates, value by value: the logarithm of 8 (C - s A) to the base 64 B; NaN if no number
   * from centre - bound to centre + bound has this point. The number of steps depends on the bound only.
   * @throws TandemError CIPHERTEXT_RANGE for an invalid point
   */
  open(request: OpenRequest): Promise<Float64Array>;

  // ---- a passive party ----

  /** Memory for the points of rows; they are neutral points until they are loaded. */
  points(rowCount: number, width: number): HeldPoints;
  /**
   * Decodes the points of these rows, row by row, into `target`.
   * @throws TandemError CIPHERTEXT_RANGE for an invalid point; the rows are then in an undefined state
   */
  load(bytes: Uint8Array, target: HeldPoints, rows: Uint32Array): Promise<void>;
  /** Sums per feature and bin, for each source: feature by feature, bin by bin; empty and skipped bins are neutral. */
  histogram(request: HistogramRequest): Promise<readonly HeldSums[]>;
  /** Element by element. */
  add(a: HeldSums, b: HeldSums): Promise<HeldSums>;
  /** Canonical: the same bytes whatever was summed in which order. */
  encode(sums: HeldSums): Promise<Uint8Array>;
  /** @throws TandemError CIPHERTEXT_RANGE for an invalid point */
  decode(bytes: Uint8Array, width: number): Promise<HeldSums>;
  /** @throws TandemError CIPHERTEXT_RANGE for an invalid point, or one of small order */
  keys(bytes: Uint8Array): Promise<HeldKeys>;
  /**
   * The answer for a node, candidate by candidate: A = 8 (sum of bases + rho B), then for each value
   * C = 8 (sum + noise B + rho S). The only way for a sum to leave a passive party.
   */
  answer(request: AnswerRequest): Promise<Uint8Array>;
}

export interface EncryptRequest {
  /** h of every row of the job. */
  readonly rows: HeldScalars;
  /** The rows of this chunk. */
  readonly places: Uint32Array;
  /** s of each value. */
  readonly secrets: HeldScalars;
  /** q, row by row, value by value. */
  readonly plaintexts: Int32Array;
}

export interface OpenRequest {
  /** s of each value. */
  readonly secrets: HeldScalars;
  /** Candidate by candidate: A, then C of each value. */
  readonly points: Uint8Array;
  /** Per candidate and value an integer from which the sum differs by at most its bound; below 2^36. */
  readonly centres: Float64Array;
  /** Per candidate and value, at most the table's reach. -1: not opened, the sum is 0. */
  readonly bounds: Float64Array;
  readonly logarithms: Logarithms;
}

export interface HistogramRequest {
  /** Tables with the same number of rows, summed over the same rows. */
  readonly sources: readonly HeldPoints[];
  readonly rows: Uint32Array;
  /** Per feature: the bin of every row (indexed by row, not by position in `rows`). */
  readonly bins: readonly Uint16Array[];
  readonly binCounts: Uint32Array;
  /** Per feature: a bin that is left out of the sums, or -1. */
  readonly skippedBins: Int32Array;
  /** Sum groups of features in joint bins where that is cheaper; the result is the same. */
  readonly jointBins: boolean;
}

export interface AnswerRequest {
  /** Per bin the sum of bases (width 1), and of each value. */
  readonly bases: HeldSums;
  readonly values: HeldSums;
  /** Chain c adds up the bins sources[chainOffsets[c]] .. sources[chainOffsets[c + 1] - 1], starting at zero. */
  readonly chainOffsets: Uint32Array;
  readonly sources: Uint32Array;
  /** Per step the candidate whose sum is the running sum, or -1. Each candidate is written exactly once. */
  readonly targets: Int32Array;
  /** Per candidate 1 if its sum is replaced by the empty sum. */
  readonly suppressed: Uint8Array;
  /** Per candidate and value an integer that is added to the sum; null: none. Magnitudes are below 2^35. */
  readonly noise: Float64Array | null;
  /** S of each value. */
  readonly keys: HeldKeys;
  /** rho of each candidate: wideScalarBytes each. */
  readonly masks: Uint8Array;
}

/** @param index of the point within the bytes that were passed */
export function invalidPoint(index: number): TandemError {
  return new TandemError("CIPHERTEXT_RANGE", `point ${index} is not a valid point of edwards25519`);
}
