/** A column of cells that are bytes yet: where each stands in a piece of a table's text. */
export interface CellColumn {
  /** UTF-8. */
  readonly bytes: Uint8Array;
  /** Start and length of each cell, row by row; the highest bit of a length: quotes stand doubled in the cell. */
  readonly cells: Uint32Array;
  /** How many rows and columns there are, and which column it is. */
  readonly shape: Uint32Array;
  text(row: number): string;
}

/** How a cell is normalised when it is added to an index (psi/normalise.ts), as bits, in this order. */
export const cellRules = { lowercase: 1, digits: 2, "strip-leading-zeros": 4 } as const;
