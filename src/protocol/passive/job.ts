/** What a passive party's role is given for one attempt at a job, and whom it tells how things go. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { Minimums } from "../../gbdt/split/offered-candidates.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { PhaseEdge } from "../phase.ts";
import type { Watch } from "../../messages/tally.ts";
import type { PassiveScheme } from "../../scheme/scheme.ts";
import type { OwnSplit, PassiveProgress } from "./answered-splits.ts";
import type { RoundStore } from "./round-store.ts";
import type { SplitColumn } from "./split-outcomes.ts";

export interface PassiveJob {
  readonly name: string;
  /** What this party has agreed to; the hello must match field by field. */
  readonly agreed: AgreedParameters;
  readonly idsDigest: Uint8Array;
  readonly features: readonly BinnedFeature[];
  readonly instanceCount: number;
  readonly permutationSecret: Uint8Array;
  /** What it draws its columns with, where they are sampled. */
  readonly samplingSecret?: string;
  /** What its noise is made with, where a job has some. */
  readonly noiseSecret?: Uint8Array;
  /** Its owner lets sums come back in a ciphertext each; left out: not. */
  readonly allowsUnpacked?: boolean;
  /** Its owner's: candidates with fewer people are withheld. */
  readonly minimums: Minimums;
  readonly scheme: PassiveScheme;
  /** Own feature values of ids that may be asked for, or null for an unknown id. */
  readonly lookUp: (id: string) => ((feature: number) => number) | null;
  /** How many ids may be asked for: more are refused before they are looked for. Left out: no limit. */
  readonly testRowsMax?: number;
  /** Per feature what these values stand for if they are codes of categories; left out where none has some. */
  readonly categoryNames?: readonly CategoryNames[];
  readonly observer: PassiveObserver;
  /**
   * This party's splits of the model that training goes on from, with the columns that they ask about; none where left
   * out.
   */
  readonly start?: readonly SplitColumn[];
  /** What earlier attempts at this job have left; nothing, unless it says otherwise. */
  readonly progress?: PassiveProgress;
  /** Makes progress outlive this process; settles when it does. */
  readonly store?: (progress: PassiveProgress) => Promise<void>;
  /** Keeps what was told of a round that may be redone; left out: there is one attempt only. */
  readonly roundStore?: RoundStore;
  /** A round begins whose first tree this is: settles before anything of it is answered, or refuses it. */
  readonly admitRound?: (tree: number) => Promise<void>;
  /** A node is asked for: settles before anything of it is answered, or refuses it. */
  readonly admitNode?: () => Promise<void>;
  /** So many people are asked about: settles before anything is told of them, or refuses it. */
  readonly admitScores?: (people: number) => Promise<void>;
  /** Fewer summed people in a tree are refused. */
  readonly sampleMin?: number;
  /** The job has ended well before: only prediction and its end may be asked for again. */
  readonly finished?: boolean;
}

/** What the party around this role wants to know. */
export interface PassiveObserver {
  joined?(activeName: string): void;
  roundBegan?(tree: number): void;
  phase?(edge: PhaseEdge): void;
  treeFinished?(tree: number, ownSplits: readonly OwnSplit[]): void;
  /** What either side sees of the other, as it happens: for this party's own eyes. */
  readonly observed?: Watch;
}
