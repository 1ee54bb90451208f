/** What a cell of text says: a number, or that its value is missing. Cells are trimmed before. */

/**
 * Ordinary decimal or exponent syntax: what Number() also takes (hex, Infinity, digit groups) is not meant as a number.
 */
export const numberSyntax = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** @returns undefined for text, and for a number beyond float64 */
export function parseNumber(cell: string): number | undefined {
  if (!numberSyntax.test(cell)) return undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** Empty, NA or NaN, in any case. */
export function isMissing(cell: string): boolean {
  if (cell === "") return true;
  if (cell.length > 3) return false;
  const upper = cell.toUpperCase();
  return upper === "NA" || upper === "NAN";
}
