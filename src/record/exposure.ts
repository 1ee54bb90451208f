/**
 * The result of an audit of one job, as the party itself may see it: how much of its columns or labels the other side
 * could compute. `tandem audit --job` writes it into own.jsonl; page and report show it.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { count, flag, number, text } from "./fields.ts";

/** From outcomes of won splits, then also from sums, then also from scoring: ascending. */
const bySource = z.object({ outcomes: number, sums: number, scoring: number });

/** One column of a passive party. Bits are averages per instance. */
const columnExposure = z.object({
  name: text,
  bins: count,
  /** Entropy of the column's bins. */
  bits: number,
  toldBits: bySource,
  /** Share of the instances whose bin is proven. */
  certain: bySource,
});

/** What a defence would change; null: not measured. */
const defenceEffect = z.object({
  name: text,
  /** Of the test rows: AUC, or the objective's default metric. */
  metric: z.nullable(z.object({ name: text, value: number, change: number })),
  certain: z.nullable(number),
  scoringBits: z.nullable(number),
  labelAuc: z.nullable(number),
});

export const exposure = z.object({
  /** The party that could compute it, and the party it is about. */
  learner: text,
  about: text,
  people: count,
  trees: count,
  depthMax: count,
  sumsPerPerson: number,
  /** The sums had noise: what they reveal is bounded, not proven. Null: they were exact. */
  noise: z.nullable(z.object({ sigma: number, bitsPerColumnMax: number })),
  /** Random gradients were used, since the true ones were not known: the result is an upper estimate. */
  isEstimate: flag,
  /**
   * Node membership was hidden from the passive party. Outcomes then covered all instances, and sums were not attacked,
   * since their members are not known. Left out: it was not hidden.
   */
  hidesMembers: z.exactOptional(flag),
  /** Sums were hidden: sumsPerPerson are those of best candidates, at most, and were not attacked. Left out: no. */
  hidesSums: z.exactOptional(flag),
  /** Of a passive party; empty for the active one. */
  columns: z.array(columnExposure),
  /** Of the active party's labels; null for a passive party. */
  labels: z.nullable(
    z.object({
      /** The AUC of the best guess without a label, after the first `tree` trees. */
      byTree: z.array(z.object({ tree: count, auc: number })),
      modelAuc: number,
      /** Share of the tenth with the model's highest scores that the guess finds. */
      riskiestTenth: number,
    }),
  ),
  whatIf: z.array(defenceEffect),
});

export type ColumnExposure = Immutable<z.infer<typeof columnExposure>>;
export type DefenceEffect = Immutable<z.infer<typeof defenceEffect>>;
export type Exposure = Immutable<z.infer<typeof exposure>>;
