/**
 * Loops over rows that training takes for each node or tree. The native addon runs long ones on several threads. The
 * TypeScript versions give the same bits, since sums are integers below 2^53, and are its oracle.
 */
import { availableParallelism } from "node:os";
import { assert } from "../assert.ts";
import { type PlainAddon, plainAddon } from "../plain-addon.ts";

/** Rounding of real numbers to integers: eq. (7) without a shift. */
export interface RowGrid {
  /** No value lies below it. */
  readonly shift: number;
  /** Larger values are taken for this one. */
  readonly top: number;
  readonly resolution: number;
  /** Of the integers. */
  readonly largest: number;
}

export interface RowLoops {
  /** Per column the sum over some rows. */
  sums(columns: readonly Float64Array[], rows: Uint32Array): Float64Array;
  /** Per column the sum over those rows whose bit is set. @param bitmap over `rows` */
  sumsOfSet(columns: readonly Float64Array[], rows: Uint32Array, bitmap: Uint8Array): Float64Array;
  /** The sum of the magnitudes of some rows. */
  sumOfSizes(column: Float64Array, rows: Uint32Array): number;
  /** The set bits among the first `count`. */
  countSet(bitmap: Uint8Array, count: number): number;
  /** The rows whose bit is set, and the others, in their order. */
  divided(rows: Uint32Array, bitmap: Uint8Array): { readonly inside: Uint32Array; readonly outside: Uint32Array };
  /** The bits of some positions of a bitmap, as a bitmap over these. */
  picked(ofAll: Uint8Array, positions: Uint32Array): Uint8Array;
  /** Bitmap over rows of `table[bins[row]]`. @param table 0 or 1 per bin */
  lookedUp(table: Uint8Array, bins: Uint16Array, rows: Uint32Array): Uint8Array;
  /** result[placeOf[row]] = column[row] for some rows. @param placeOf -1: nowhere; null: each row in its own place */
  place(column: Float64Array, rows: Uint32Array, placeOf: Int32Array | null, result: Int32Array): void;
  /** @returns the index of the first value below the shift, or that is not a number; -1: none, `result` is written */
  round(values: Float64Array, grid: RowGrid, result: Float64Array): number;
  /** result[row] = number for some rows. */
  mark(rows: Uint32Array, number: number, result: Uint32Array): void;
  /** numbers[first + stride * i] += weights[leaves[i]] */
  addByLeaf(leaves: Uint32Array, weights: Float64Array, numbers: Float64Array, first: number, stride: number): void;
}

export const portableRowLoops: RowLoops = {
  sums: (columns, rows) =>
    Float64Array.from(columns, (column) => {
      let sum = 0;
      for (let i = 0; i < rows.length; i++) sum += column[rows[i]];
      return sum;
    }),
  sumsOfSet: (columns, rows, bitmap) =>
    Float64Array.from(columns, (column) => {
      let sum = 0;
      // Multiplication by 0 or 1 avoids an unpredictable branch.
      for (let i = 0; i < rows.length; i++) sum += column[rows[i]] * ((bitmap[i >>> 3] >>> (i & 7)) & 1);
      return sum;
    }),
  sumOfSizes(column, rows) {
    let sum = 0;
    for (let i = 0; i < rows.length; i++) sum += Math.abs(column[rows[i]]);
    return sum;
  },
  countSet(bitmap, count) {
    let set = 0;
    for (let i = 0; i < count; i++) set += (bitmap[i >>> 3] >>> (i & 7)) & 1;
    return set;
  },
  divided(rows, bitmap) {
    const inside = new Uint32Array(rows.length);
    const outside = new Uint32Array(rows.length);
    let insideCount = 0;
    let outsideCount = 0;
    for (let i = 0; i < rows.length; i++) {
      // Writes both and advances one of them: avoids an unpredictable branch.
      const isInside = (bitmap[i >>> 3] >>> (i & 7)) & 1;
      inside[insideCount] = rows[i];
      outside[outsideCount] = rows[i];
      insideCount += isInside;
      outsideCount += 1 - isInside;
    }
    return { inside: inside.slice(0, insideCount), outside: outside.slice(0, outsideCount) };
  },
  picked(ofAll, positions) {
    const bitmap = new Uint8Array(Math.ceil(positions.length / 8));
    for (let i = 0; i < positions.length; i++) {
      const position = positions[i];
      bitmap[i >>> 3] |= ((ofAll[position >>> 3] >>> (position & 7)) & 1) << (i & 7);
    }
    return bitmap;
  },
  lookedUp(table, bins, rows) {
    const bitmap = new Uint8Array(Math.ceil(rows.length / 8));
    for (let i = 0; i < rows.length; i++) bitmap[i >>> 3] |= table[bins[rows[i]]] << (i & 7);
    return bitmap;
  },
  place(column, rows, placeOf, result) {
    if (placeOf === null) for (let i = 0; i < rows.length; i++) result[rows[i]] = column[rows[i]];
    else for (let i = 0; i < rows.length; i++) result[placeOf[rows[i]]] = column[rows[i]];
  },
  round(values, { shift, top, resolution, largest }, result) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!(value - shift >= 0)) return i;
      result[i] = Math.min(Math.floor(Math.min(value, top) / resolution + 0.5), largest);
    }
    return -1;
  },
  mark(rows, number, result) {
    for (let i = 0; i < rows.length; i++) result[rows[i]] = number;
  },
  addByLeaf(leaves, weights, numbers, first, stride) {
    for (let i = 0, at = first; i < leaves.length; i++, at += stride) numbers[at] += weights[leaves[i]];
  },
};

/** Below this many rows the overhead of an addon call exceeds its benefit. */
const rowsMin = 2048;
/** Beyond it the addon's floor is not exact. */
const gridMax = 2 ** 50;

export function nativeRowLoops(addon: PlainAddon, fewest = rowsMin): RowLoops {
  const portable = portableRowLoops;
  const threads = Math.min(availableParallelism(), 256);
  const exist = (refused: number): void => assert(refused === -1, "every row exists");
  return {
    sums(columns, rows) {
      if (rows.length < fewest || columns.length === 0) return portable.sums(columns, rows);
      const result = new Float64Array(columns.length);
      exist(addon.rowSums(columns, rows, null, result, threads));
      return result;
    },
    sumsOfSet(columns, rows, bitmap) {
      if (rows.length < fewest || columns.length === 0) return portable.sumsOfSet(columns, rows, bitmap);
      const result = new Float64Array(columns.length);
      exist(addon.rowSums(columns, rows, bitmap, result, threads));
      return result;
    },
    sumOfSizes(column, rows) {
      if (rows.length < fewest) return portable.sumOfSizes(column, rows);
      const result = new Float64Array(1);
      exist(addon.rowSizes(column, rows, result, threads));
      return result[0];
    },
    countSet: (bitmap, count) =>
      count < fewest ? portable.countSet(bitmap, count) : addon.countBits(bitmap, count, threads),
    divided(rows, bitmap) {
      if (rows.length < fewest) return portable.divided(rows, bitmap);
      const count = addon.countBits(bitmap, rows.length, threads);
      const inside = new Uint32Array(count);
      const outside = new Uint32Array(rows.length - count);
      addon.divideRows(rows, bitmap, inside, outside, threads);
      return { inside, outside };
    },
    picked(ofAll, positions) {
      if (positions.length < fewest) return portable.picked(ofAll, positions);
      const bitmap = new Uint8Array(Math.ceil(positions.length / 8));
      exist(addon.pickBits(ofAll, positions, bitmap, threads));
      return bitmap;
    },
    lookedUp(table, bins, rows) {
      if (rows.length < fewest) return portable.lookedUp(table, bins, rows);
      const bitmap = new Uint8Array(Math.ceil(rows.length / 8));
      exist(addon.lookUpBits(table, [bins], rows, bitmap, threads));
      return bitmap;
    },
    place(column, rows, placeOf, result) {
      if (rows.length < fewest) portable.place(column, rows, placeOf, result);
      else exist(addon.placeRows(column, rows, placeOf, result, threads));
    },
    round(values, grid, result) {
      const { shift, top, resolution, largest } = grid;
      const isExact = shift / resolution >= -gridMax && top / resolution <= gridMax;
      if (values.length < fewest || !isExact) return portable.round(values, grid, result);
      return addon.roundToGrid(values, Float64Array.of(shift, top, resolution, largest), result, threads);
    },
    mark(rows, number, result) {
      if (rows.length < fewest) portable.mark(rows, number, result);
      else exist(addon.markRows(rows, number, result, threads));
    },
    addByLeaf(leaves, weights, numbers, first, stride) {
      if (leaves.length < fewest) portable.addByLeaf(leaves, weights, numbers, first, stride);
      else exist(addon.addByLeaf(leaves, weights, numbers, first, stride, threads));
    },
  };
}

let chosen: RowLoops | null = null;

export function rowLoops(): RowLoops {
  if (chosen === null) {
    const addon = plainAddon();
    chosen = addon === null ? portableRowLoops : nativeRowLoops(addon);
  }
  return chosen;
}

/** The numbers below `count`, the same array for the same count: it must not be changed. */
export function everyRow(count: number): Uint32Array {
  if (ascending.length !== count) {
    ascending = new Uint32Array(count);
    for (let row = 0; row < count; row++) ascending[row] = row;
  }
  return ascending;
}

let ascending = new Uint32Array(0);
