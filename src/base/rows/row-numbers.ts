/**
 * Columns of many rows. `from` of a typed array with a function would first create a list of all numbers, with eight or
 * more bytes for each.
 */

/** 0, 1, 2, ... */
export function rowNumbers(count: number): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** The rows of 0 to `count` - 1 that satisfy a condition. */
export function rowsWhere(count: number, isWanted: (row: number) => boolean): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) if (isWanted(row)) rows[found++] = row;
  return found === count ? rows : rows.slice(0, found);
}

/** All rows of 0 to `count` - 1 that are not among the given ones, ascending. */
export function otherRows(rows: Uint32Array, count: number): Uint32Array<ArrayBuffer> {
  const isGiven = new Uint8Array(count);
  for (const row of rows) isGiven[row] = 1;
  return rowsWhere(count, (row) => isGiven[row] === 0);
}

/** The values of some rows, in the order of `rows`. */
export function selectFloat32(values: Float32Array, rows: Uint32Array): Float32Array<ArrayBuffer> {
  const chosen = new Float32Array(rows.length);
  for (let i = 0; i < rows.length; i++) chosen[i] = values[rows[i]];
  return chosen;
}

export function selectFloat64(values: Float64Array, rows: Uint32Array): Float64Array<ArrayBuffer> {
  const chosen = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) chosen[i] = values[rows[i]];
  return chosen;
}

/** Concatenates columns. */
export function joinedFloat32(columns: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  return joined(new Float32Array(lengthOf(columns)), columns);
}

export function joinedFloat64(columns: readonly Float64Array[]): Float64Array<ArrayBuffer> {
  return joined(new Float64Array(lengthOf(columns)), columns);
}

function lengthOf(columns: readonly { readonly length: number }[]): number {
  return columns.reduce((sum, { length }) => sum + length, 0);
}

function joined<T extends { set(values: U, at: number): void }, U extends { readonly length: number }>(
  all: T,
  columns: readonly U[],
): T {
  let at = 0;
  for (const column of columns) {
    all.set(column, at);
    at += column.length;
  }
  return all;
}
