/**
 * What an audit has found about one job, as the party itself may see it: how much of its columns, or of its labels, the
 * other side could compute. `tandem audit --job` writes it into own.jsonl; page and report show it.
 *
 * Runs in browsers too.
 */

/** One column of a passive party. Bits are averages per person. */
export interface ColumnExposure {
  readonly name: string;
  readonly bins: number;
  /** What the column's bin is worth: its entropy. */
  readonly bits: number;
  /** Bits that follow from outcomes of won splits, then also from sums, then also from scoring: never fewer. */
  readonly toldBits: { readonly outcomes: number; readonly sums: number; readonly scoring: number };
  /** Share of the people whose bin is proven, by the same. */
  readonly certain: { readonly outcomes: number; readonly sums: number; readonly scoring: number };
}

/** What a defence would change; null: not measured. */
export interface DefenceEffect {
  readonly name: string;
  /** Of the test rows: AUC, or what the objective has instead. */
  readonly metric: { readonly name: string; readonly value: number; readonly change: number } | null;
  readonly certain: number | null;
  readonly scoringBits: number | null;
  readonly labelAuc: number | null;
}

export interface Exposure {
  /** Who could compute it, and about whom. */
  readonly learner: string;
  readonly about: string;
  readonly people: number;
  readonly trees: number;
  readonly depthMax: number;
  readonly sumsPerPerson: number;
  /** The sums had noise: what they tell is bounded, not proven. Null: they were exact. */
  readonly noise: { readonly sigma: number; readonly bitsPerColumnMax: number } | null;
  /** True gradients were not known: random ones took their place, and the result is an upper estimate. */
  readonly isEstimate: boolean;
  /**
   * Who is in a node was hidden from the passive party. Outcomes then told a side of everybody, and what the sums tell
   * was not tried: nobody knows whom they are of. Left out: it was told.
   */
  readonly hidesMembers?: boolean;
  /** Of a passive party; empty of the active one. */
  readonly columns: readonly ColumnExposure[];
  /** Of the active party's labels; null of a passive party. */
  readonly labels: {
    /** After so many trees that were seen, the AUC of the best guess without a label. */
    readonly byTree: readonly { readonly tree: number; readonly auc: number }[];
    readonly modelAuc: number;
    /** Of the riskiest tenth by the model, the share that the guess finds. */
    readonly riskiestTenth: number;
  } | null;
  readonly whatIf: readonly DefenceEffect[];
}
