/**
 * The paper's own numbers (Xu, Fan, Li, Yang: Efficient Batch Homomorphic Encryption for Vertically Federated XGBoost,
 * sec. IV), as printed. Tables give accuracy; times are published as bars without numbers, so our times can only be
 * compared with the ranges that its text gives.
 */

export interface Accuracy {
  readonly aucTrain: number;
  readonly aucTest: number;
  readonly ksTrain: number;
  readonly ksTest: number;
}

export interface PaperRow {
  /** Key bits, training rows or trees. */
  readonly at: number;
  readonly unbatched: Accuracy;
  readonly batched: Accuracy;
}

function accuracy(aucTrain: number, aucTest: number, ksTrain: number, ksTest: number): Accuracy {
  return { aucTrain, aucTest, ksTrain, ksTest };
}

/** "SecureBoost" is our unbatched codec, "Proposed" our batched one. */
export const paperTables = {
  /** Table II: accuracy with different key lengths. */
  keys: [
    { at: 128, unbatched: accuracy(0.79, 0.788, 0.4412, 0.4408), batched: accuracy(0.7906, 0.7877, 0.4434, 0.4441) },
    { at: 256, unbatched: accuracy(0.7904, 0.7875, 0.4417, 0.4429), batched: accuracy(0.7899, 0.7882, 0.4411, 0.4435) },
    { at: 512, unbatched: accuracy(0.7904, 0.7877, 0.4404, 0.4418), batched: accuracy(0.7897, 0.7866, 0.4406, 0.4394) },
    {
      at: 1024,
      unbatched: accuracy(0.7904, 0.7875, 0.4417, 0.4429),
      batched: accuracy(0.7906, 0.7877, 0.4434, 0.4441),
    },
  ],
  /** Table III: accuracy with different sample sizes. */
  samples: [
    {
      at: 30_000,
      unbatched: accuracy(0.8596, 0.8444, 0.5641, 0.5455),
      batched: accuracy(0.8596, 0.8444, 0.5625, 0.5466),
    },
    {
      at: 60_000,
      unbatched: accuracy(0.8498, 0.8436, 0.5511, 0.5401),
      batched: accuracy(0.8499, 0.8436, 0.5526, 0.5401),
    },
    {
      at: 91_500,
      unbatched: accuracy(0.8533, 0.8436, 0.5587, 0.5399),
      batched: accuracy(0.8533, 0.8438, 0.5577, 0.5407),
    },
  ],
  /** Table IV: accuracy with different numbers of boosting trees. */
  rounds: [
    { at: 10, unbatched: accuracy(0.7671, 0.7722, 0.417, 0.426), batched: accuracy(0.7664, 0.7707, 0.4164, 0.4246) },
    { at: 30, unbatched: accuracy(0.7791, 0.7836, 0.4295, 0.4436), batched: accuracy(0.7804, 0.7851, 0.4333, 0.4441) },
    { at: 50, unbatched: accuracy(0.7904, 0.7875, 0.4417, 0.4429), batched: accuracy(0.7899, 0.7882, 0.4411, 0.4435) },
    { at: 70, unbatched: accuracy(0.7967, 0.7894, 0.4501, 0.4488), batched: accuracy(0.7967, 0.7906, 0.4501, 0.4574) },
    { at: 90, unbatched: accuracy(0.8021, 0.7904, 0.4557, 0.4525), batched: accuracy(0.8025, 0.7909, 0.4561, 0.4514) },
  ],
} as const satisfies Record<string, readonly PaperRow[]>;

export type SweepName = keyof typeof paperTables;

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Time with batching over time without, sec. IV-D: "from 75% to 55%" in all, "from 60% to 50%" for building trees. */
export const paperTimeFractions: { readonly total: Range; readonly perTree: Range } = {
  total: { min: 0.55, max: 0.75 },
  perTree: { min: 0.5, max: 0.6 },
};

/** Sec. IV-A: "In all experiments, we choose the shift parameter s_j = -10 and the truncation parameter alpha = 20." */
export const paperShift = -10;
export const paperAlpha = 20;
