/** Input and results of the active party's role for one attempt at a job, and its observer. */
import type { TextList } from "../../base/text/text-list.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import type { BestRound } from "../../gbdt/boost/boosting-monitor.ts";
import type { DartProgress } from "../../gbdt/boost/dart/course.ts";
import type { Turns } from "../../gbdt/boost/fold-turns.ts";
import type { StartModel } from "../../gbdt/boost/warm-start.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { ModelTerms } from "../../gbdt/tree/model.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import type { Observation } from "../../messages/observation.ts";
import type { ActiveScheme } from "../../scheme/scheme.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { AgreedStart, Job } from "../job.ts";
import type { PhaseEdge } from "../phase.ts";
import type { ActiveRule } from "./federated-tree.ts";
import type { PlaintextJournal } from "./plaintext-journal.ts";

export interface ActiveJob {
  /** The party's own features. */
  readonly name: string;
  readonly job: Job<ActiveStart>;
  readonly features: readonly BinnedFeature[];
  readonly rows: TrainingRows;
  /** Its columns of these rows; only with a start model. */
  readonly columns?: OwnColumns;
  /** Cross-validation instead of one model: its folds, and the progress of earlier attempts. */
  readonly folds?: Turns;
  /** Validation rows come from separate files of all parties. */
  readonly validationFile?: boolean;
  /** Seeds column sampling. */
  readonly samplingSecret?: string;
  readonly idsDigest: Uint8Array;
  /**
   * Identifies the job's rows among the parties' rows: aligned rows or file order; all, or a bitmap.
   */
  readonly sharedRows?: SharedRows;
  readonly scheme: ActiveScheme;
  readonly peers: readonly PassivePeer[];
  readonly observer: ActiveObserver;
  /** Progress of earlier attempts at this job; default: none. */
  readonly progress?: ActiveProgress;
  /** Stores progress durably. @param round the latest round */
  readonly store?: (progress: ActiveProgress, round: StoredRound) => Promise<void>;
  /** 16 random bytes that distinguish jobs of the same name. */
  readonly jobId?: Uint8Array;
  /** What earlier attempts have encrypted; left out: there is one attempt only. */
  readonly journal?: PlaintextJournal;
  /** 32 bytes, with which it seals what passive parties keep for it; left out: there is one attempt only. */
  readonly sealKey?: Uint8Array;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Whether the common rows are aligned ids or rows in file order, and a bitmap of the job's rows. */
export interface SharedRows {
  readonly aligned: boolean;
  /** Empty: all. */
  readonly training: Uint8Array;
}

/**
 * The active party's share of a start model; features and owners of its rules are those of this job.
 */
export interface ActiveStart extends StartModel<ActiveRule>, AgreedStart {
  readonly trees: readonly Tree<ActiveRule>[];
}

/** The active party's own columns, which its rules test. */
export interface OwnColumns {
  readonly features: readonly Float32Array[];
  /** Category names per column; left out where no column is categorical. */
  readonly categoryNames?: readonly CategoryNames[];
}

/**
 * The trees of all rounds so far, including those of a start model, the margins after them, and the best round on the
 * validation rows.
 */
export interface ActiveProgress {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly margins: Float64Array;
  /** Margins at the beginning of the current boosting round; left out: same as `margins`. */
  readonly boostingRoundMargins?: Float64Array | undefined;
  readonly best: BestRound | null;
  /** State of booster dart, from which the margins are computed. */
  readonly dart?: DartProgress | undefined;
}

/**
 * The trees of a round, and the leaf of every instance in each: with the margins before it, these give the margins
 * after.
 */
export interface StoredRound {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly leaves: readonly Uint32Array[];
}

/** Notifications to the owner of this role. They contain no gradient, label or threshold. */
export interface ActiveObserver {
  joined?(partyName: string, featureCount: number): void;
  layoutProven?(layout: GradientLayout): void;
  treeBegan?(tree: number): void;
  phase?(edge: PhaseEdge): void;
  /**
   * @param evaluate metrics of the training rows and, after a round, of the validation rows; computed on first use
   * @param grown the active party's own view of the tree, for its own record
   */
  treeFinished?(
    tree: number,
    margins: Float64Array,
    evaluate: () => Promise<RoundMetrics>,
    grown: Tree<ActiveRule>,
  ): void | Promise<void>;
  /** A passive party's answers are unlikely for honest columns; the job continues. */
  alarm?(party: string, tree: number, node: number, words: string): void;
  /** What either party sees of the other, as it happens: for this party's own record. */
  observed?(peer: string, observation: Observation): void;
}

export interface RoundMetrics {
  readonly train: Readonly<Record<string, number>>;
  readonly validation: Readonly<Record<string, number>> | null;
}

/** The active party's share: the shape of all trees, its own rules, the leaf weights. */
export interface ActiveModel extends ModelTerms {
  /** Names of the passive parties: rule.owner - 1 is the index here. */
  readonly passiveNames: readonly string[];
  readonly trees: readonly Tree<ActiveRule>[];
}

export interface PhaseTimesMs {
  handshake: number;
  /** Before the first tree: keys are checked, hints are computed and sent. */
  setUp: number;
  encrypt: number;
  aggregate: number;
  decrypt: number;
}

/** Rows to predict. */
export interface PredictionRows extends OwnColumns {
  readonly ids: TextList;
  /** The base margin of each row, for a model that was trained with base margins. */
  readonly baseMargins?: Float64Array | undefined;
}
