/** How a file is to be read where that does not follow from its name and its first bytes. */

export const tableFormats = ["csv", "parquet", "libsvm"] as const;
export type TableFormat = (typeof tableFormats)[number];

export interface TableReading {
  /** Left out: by the name (.parquet), otherwise by the first line. */
  readonly format?: TableFormat | undefined;
  /**
   * CSV: whether the first line has the columns' names. Otherwise these are f0, f1, ... as XGBoost names them. Left
   * out: it has, with a notice if it looks like a row.
   */
  readonly header?: boolean | undefined;
}
