/** What the active party's role is given for one attempt at a job, what it makes, and whom it tells how things go. */
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

export interface ActiveJob {
  /** The party's own. */
  readonly name: string;
  readonly job: Job<ActiveStart>;
  readonly features: readonly BinnedFeature[];
  readonly rows: TrainingRows;
  /** Its columns of these rows, where there is a start model. */
  readonly columns?: OwnColumns;
  /** A cross-validation instead of one model: its folds, and what earlier attempts have left of it. */
  readonly folds?: Turns;
  /** The validation rows are from files of their own, which all parties have. */
  readonly validationFile?: boolean;
  /** What it draws features with, where they are sampled. */
  readonly samplingSecret?: string;
  readonly idsDigest: Uint8Array;
  /**
   * Which of the parties' rows these are: rows aligned before or as they stand in the files; all of them, or a bitmap.
   */
  readonly sharedRows?: SharedRows;
  readonly scheme: ActiveScheme;
  readonly peers: readonly PassivePeer[];
  readonly observer: ActiveObserver;
  /** What earlier attempts at this job have left; nothing, unless it says otherwise. */
  readonly progress?: ActiveProgress;
  /** Makes progress outlive this process; settles when it does. @param round what its last round was */
  readonly store?: (progress: ActiveProgress, round: StoredRound) => Promise<void>;
  /** 16 random bytes that tell this job from others of the same name. */
  readonly jobId?: Uint8Array;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
}

/** Of the rows that the parties share: whether these are aligned ids or the files' rows, and a bitmap of the job's. */
export interface SharedRows {
  readonly aligned: boolean;
  /** Empty: all. */
  readonly training: Uint8Array;
}

/**
 * The active party's share of a model that training goes on from; features and owners of its rules are those of this
 * job.
 */
export interface ActiveStart extends StartModel<ActiveRule>, AgreedStart {
  readonly trees: readonly Tree<ActiveRule>[];
}

/** The active party's own columns, which its rules ask about. */
export interface OwnColumns {
  readonly features: readonly Float32Array[];
  /** Per column what its codes stand for; left out where no column has categories. */
  readonly categoryNames?: readonly CategoryNames[];
}

/**
 * The trees of all rounds so far, those of a start model among them, every instance's margins after them, and the best
 * round on the validation rows.
 */
export interface ActiveProgress {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly margins: Float64Array;
  /** Those that the boosting round under way began with; left out: none is, or it is its first round. */
  readonly boostingRoundMargins?: Float64Array | undefined;
  readonly best: BestRound | null;
  /** Of booster dart: what the margins follow from. */
  readonly dart?: DartProgress | undefined;
}

/** The trees of a round, and at which node of each every instance ends: the margins before it are all else it takes. */
export interface StoredRound {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly leaves: readonly Uint32Array[];
}

/** What the party around this role wants to know. No gradient, label or threshold passes through here. */
export interface ActiveObserver {
  joined?(partyName: string, featureCount: number): void;
  layoutProven?(layout: GradientLayout): void;
  treeBegan?(tree: number): void;
  phase?(edge: PhaseEdge): void;
  /**
   * @param evaluate metrics of the training rows and, after a round, of the validation rows; computed when first asked
   * for
   * @param grown the active party's own view of the tree: for its own eyes
   */
  treeFinished?(
    tree: number,
    margins: Float64Array,
    evaluate: () => Promise<RoundMetrics>,
    grown: Tree<ActiveRule>,
  ): void | Promise<void>;
  /** A passive party does what honest columns hardly ever do; the job goes on. */
  alarm?(party: string, tree: number, node: number, words: string): void;
  /** What either side sees of the other, as it happens: for this party's own eyes. */
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
  /** Before the first tree: keys are checked, hints are made and told. */
  setUp: number;
  encrypt: number;
  aggregate: number;
  decrypt: number;
}

/** Rows to predict. */
export interface PredictionRows extends OwnColumns {
  readonly ids: TextList;
  /** Where each row starts, of a model that was trained with such. */
  readonly baseMargins?: Float64Array | undefined;
}
