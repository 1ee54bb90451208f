/** Parses a cell: a number, or a missing value. Cells are already trimmed. */

/**
 * Ordinary decimal or exponent syntax: other syntax of Number() (hex, Infinity, digit groups) is not accepted.
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
