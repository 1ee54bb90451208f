/** Input of a passive party's role for one attempt at a job, and its observer. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { Minimums } from "../../gbdt/split/offered-candidates.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { NodeJournal } from "../hidden/passive-answered-nodes.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { PhaseEdge } from "../phase.ts";
import type { VettedColumn } from "../vetting.ts";
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
  /** Seeds column sampling. */
  readonly samplingSecret?: string;
  /** Seeds answer noise. */
  readonly noiseSecret?: Uint8Array;
  /** The owner's policy allows unpacked sums, one per ciphertext; default: no. */
  readonly allowsUnpacked?: boolean;
  /** In a vetting, per feature what is sent besides its sums. */
  readonly columns?: readonly VettedColumn[];
  /** The owner's minimums: candidates with fewer instances are suppressed. */
  readonly minimums: Minimums;
  readonly scheme: PassiveScheme;
  /** Own feature values of an id that may be predicted, or null for an unknown id. */
  readonly lookUp: (id: string) => ((feature: number) => number) | null;
  /** Maximum number of predicted ids: more are refused before any is looked up. Left out: no limit. */
  readonly testRowsMax?: number;
  /** Per feature its category names if the values are category codes; left out: no feature is categorical. */
  readonly categoryNames?: readonly CategoryNames[];
  readonly observer: PassiveObserver;
  /**
   * This party's splits of the start model, with the columns they test; left out: none.
   */
  readonly start?: readonly SplitColumn[];
  /** Progress of earlier attempts at this job; default: none. */
  readonly progress?: PassiveProgress;
  /** Stores progress durably. */
  readonly store?: (progress: PassiveProgress) => Promise<void>;
  /** Stores what a round that is redone needs; left out: there is one attempt only. */
  readonly roundStore?: RoundStore;
  /** Stores the answered nodes where members are hidden; left out: there is one attempt only. */
  readonly nodeJournal?: NodeJournal;
  /** A round with this first tree begins: settles before any of it is answered, or rejects. */
  readonly admitRound?: (tree: number) => Promise<void>;
  /** A node is requested: settles before it is answered, or rejects. */
  readonly admitNode?: () => Promise<void>;
  /** Predictions of a number of instances are requested: settles before they are answered, or rejects. */
  readonly admitScores?: (count: number) => Promise<void>;
  /** Masked scores are requested: settles before they are answered, or rejects. */
  readonly admitQuestions?: (asked: AskedRows) => Promise<void>;
  /** A tree that sums fewer instances is refused. */
  readonly sampleMin?: number;
  /** The job has finished successfully: only predictions and its end may be repeated. */
  readonly finished?: boolean;
}

/** Test rows by their ids; or instances, with a start model, by their numbers. */
export type AskedRows = { readonly ids: readonly string[] } | { readonly first: number; readonly count: number };

/** Notifications to the owner of this role. */
export interface PassiveObserver {
  joined?(activeName: string): void;
  roundBegan?(tree: number): void;
  /** The active party has deviated from the protocol. */
  alarm?(words: string): void;
  phase?(edge: PhaseEdge): void;
  treeFinished?(tree: number, ownSplits: readonly OwnSplit[]): void;
  /** What either party sees of the other, as it happens: for this party's own record. */
  readonly observed?: Watch;
}
