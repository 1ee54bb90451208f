/** How large a reproduction is: the paper's sizes, a quick look, or the smallest one that touches everything. */
import { paperTables } from "./paper.ts";

/** A point of an axis: where it stands in the paper, and what we train for it. */
export interface Point {
  /** Null where the paper has no such point. */
  readonly paper: number | null;
  readonly ours: number;
}

export type ScaleName = "full" | "quick" | "smoke";

export interface Scale {
  readonly name: ScaleName;
  /** Of the paper's rows. */
  readonly rowFraction: number;
  readonly trees: number;
  readonly keyBits: number;
  readonly keys: readonly Point[];
  readonly samples: readonly Point[];
  readonly rounds: readonly Point[];
  /** Jobs that each have one shortcut off: how many trees, and how many of the shortcuts are looked at. */
  readonly ablation: { readonly trees: number; readonly shortcutsMax: number };
  /** The paper's setting, everything but batching off, at 1024 bits and below. */
  readonly paperSetting: { readonly keys: readonly number[]; readonly trees: number };
  /** Random draws of instances whose gradients are summed. */
  readonly draws: number;
  /** Draws of rows on which the two algorithms are compared in one place. */
  readonly rowDraws: number;
  /**
   * How often a trial is repeated: the machine's speed drifts, and the smallest time counts. Long jobs even it out by
   * themselves.
   */
  repeats(keyBits: number): number;
}

const paperKeys = paperTables.keys.map(({ at }) => at);
const paperSamples = paperTables.samples.map(({ at }) => at);
const paperRounds = paperTables.rounds.map(({ at }) => at);
/** The paper stops at 1024 bits, which is insecure. */
const longerKeys: readonly Point[] = [2048, 3072].map((ours) => ({ paper: null, ours }));

function points(values: readonly number[], fraction: number): Point[] {
  return values.map((paper) => ({ paper, ours: Math.round(paper * fraction) }));
}

export const scales: Readonly<Record<ScaleName, Scale>> = {
  full: {
    name: "full",
    rowFraction: 1,
    trees: 50,
    keyBits: 1024,
    keys: [...points(paperKeys, 1), ...longerKeys],
    samples: points(paperSamples, 1),
    rounds: points(paperRounds, 1),
    ablation: { trees: 5, shortcutsMax: Infinity },
    paperSetting: { keys: paperKeys, trees: 50 },
    draws: 200,
    rowDraws: 20,
    repeats: (keyBits) => (keyBits <= 1024 ? 2 : 1),
  },
  quick: {
    name: "quick",
    rowFraction: 0.1,
    trees: 10,
    keyBits: 1024,
    keys: [...points(paperKeys, 1), ...longerKeys],
    samples: points(paperSamples, 0.1),
    rounds: points(paperRounds, 0.2),
    ablation: { trees: 2, shortcutsMax: Infinity },
    paperSetting: { keys: paperKeys, trees: 2 },
    draws: 100,
    rowDraws: 8,
    repeats: () => 1,
  },
  smoke: {
    name: "smoke",
    rowFraction: 0.02,
    trees: 3,
    keyBits: 256,
    keys: points([256], 1),
    samples: points([30_000], 0.02),
    rounds: points([30], 0.1), // the same job as the key's: every job starts two processes
    ablation: { trees: 3, shortcutsMax: 2 },
    paperSetting: { keys: [256], trees: 3 },
    draws: 20,
    rowDraws: 2,
    repeats: () => 1,
  },
};
