/** What a vetting has found: kept in its folder, and shown as a page, tables and text. */
import type { BinFigures, ColumnFigures } from "../../gbdt/vet/column-figures.ts";

/** A bin, and what it is called. Of an own column of numbers with its bounds. */
export type LabelledBin = Omit<BinFigures, "parts"> & {
  readonly label: string;
  readonly from?: number;
  readonly below?: number;
};

export interface VettedColumn extends Omit<ColumnFigures, "bins"> {
  readonly party: string;
  /** Among the party's columns, from 1; a party that sends no names knows which column has which number. */
  readonly number: number;
  /** Null: its owner does not send names. */
  readonly name: string | null;
  readonly categorical: boolean;
  /** The stability index between the common people and the party's others; null: not known. */
  readonly stability: number | null;
  readonly bins: readonly LabelledBin[];
}

export interface Vetting {
  readonly job: string;
  readonly madeAt: number;
  /** The label's column. */
  readonly label: string;
  /** The active party. */
  readonly party: string;
  /** The other parties; empty: own columns only. */
  readonly others: readonly string[];
  readonly people: number;
  /** Those with label 1. */
  readonly events: number;
  /** Bins of a column at most. */
  readonly binsMax: number;
  /** The deviation of the noise in sums of other parties, in people; 0: sums are exact. */
  readonly noise: number;
  /** The highest information value first. */
  readonly columns: readonly VettedColumn[];
}

/** "retailer: column 3", or its name. */
export function columnTitle({ party, number, name }: Pick<VettedColumn, "party" | "number" | "name">): string {
  const title = name ?? `column ${number}`;
  return party === "" ? title : `${party}: ${title}`;
}
