/** Where a party's features are found when people are scored: its table, or a source that is asked by id. */
import type { RowIndex } from "../row-index.ts";

/** The columns that a model needs. */
export interface WantedColumns {
  readonly features: readonly string[];
  /** Those of them that are categorical. */
  readonly categorical: readonly string[];
}

export interface RowSource {
  /**
   * Rows with at least these ids, as far as the source holds them; the table has all of its rows.
   * @param ids none asks whether there would be an answer
   * @param asker whom the answer is for: what one has asked about does not make another's answer faster
   * @throws TandemError of this party's own data
   */
  rows(wanted: WantedColumns, ids: readonly string[], asker: string): Promise<RowIndex>;
  close(): Promise<void>;
}
