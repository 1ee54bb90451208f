/**
 * What an audit has found about one job, as the party itself may see it: how much of its columns, or of its labels, the
 * other side could compute. `tandem audit --job` writes it into own.jsonl; page and report show it.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { count, flag, number, text } from "./fields.ts";

/** What follows from outcomes of won splits, then also from sums, then also from scoring: never less. */
const bySource = z.object({ outcomes: number, sums: number, scoring: number });

/** One column of a passive party. Bits are averages per person. */
const columnExposure = z.object({
  name: text,
  bins: count,
  /** What the column's bin is worth: its entropy. */
  bits: number,
  toldBits: bySource,
  /** Share of the people whose bin is proven. */
  certain: bySource,
});

/** What a defence would change; null: not measured. */
const defenceEffect = z.object({
  name: text,
  /** Of the test rows: AUC, or what the objective has instead. */
  metric: z.nullable(z.object({ name: text, value: number, change: number })),
  certain: z.nullable(number),
  scoringBits: z.nullable(number),
  labelAuc: z.nullable(number),
});

export const exposure = z.object({
  /** Who could compute it, and about whom. */
  learner: text,
  about: text,
  people: count,
  trees: count,
  depthMax: count,
  sumsPerPerson: number,
  /** The sums had noise: what they reveal is bounded, not proven. Null: they were exact. */
  noise: z.nullable(z.object({ sigma: number, bitsPerColumnMax: number })),
  /** True gradients were not known: random ones took their place, and the result is an upper estimate. */
  isEstimate: flag,
  /**
   * Who is in a node was hidden from the passive party. Outcomes then revealed a side of all people, and what the sums
   * reveal was not tried: whose they are is not known. Left out: it was not hidden.
   */
  hidesMembers: z.exactOptional(flag),
  /** Of a passive party; empty of the active one. */
  columns: z.array(columnExposure),
  /** Of the active party's labels; null of a passive party. */
  labels: z.nullable(
    z.object({
      /** After so many trees that were seen, the AUC of the best guess without a label. */
      byTree: z.array(z.object({ tree: count, auc: number })),
      modelAuc: number,
      /** Of the riskiest tenth by the model, the share that the guess finds. */
      riskiestTenth: number,
    }),
  ),
  whatIf: z.array(defenceEffect),
});

export type ColumnExposure = Immutable<z.infer<typeof columnExposure>>;
export type DefenceEffect = Immutable<z.infer<typeof defenceEffect>>;
export type Exposure = Immutable<z.infer<typeof exposure>>;
