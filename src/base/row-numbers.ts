/**
 * Columns of many rows. `from` of a typed array with a function would first make a list of all numbers, which takes
 * eight bytes and more for each.
 */

/** 0, 1, 2, ... */
export function rowNumbers(count: number): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** Those rows of 0 to `count` - 1 that are wanted. */
export function rowsWhere(count: number, isWanted: (row: number) => boolean): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) if (isWanted(row)) rows[found++] = row;
  return found === count ? rows : rows.slice(0, found);
}

/** The values of some rows, in the order of `rows`. */
export function float32Of(values: Float32Array, rows: Uint32Array): Float32Array<ArrayBuffer> {
  const chosen = new Float32Array(rows.length);
  for (let i = 0; i < rows.length; i++) chosen[i] = values[rows[i]];
  return chosen;
}

export function float64Of(values: Float64Array, rows: Uint32Array): Float64Array<ArrayBuffer> {
  const chosen = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) chosen[i] = values[rows[i]];
  return chosen;
}
