/**
 * What a viewer may see of a job. The page, the report and the terminal all show this. It is folded from the job's
 * public events, by the `fold` functions of events/.
 *
 * Runs in browsers too.
 */
import { type MembershipFacts, membershipFacts } from "../base/membership.ts";
import type { Ledger } from "../messages/ledger.ts";
import type { Phase } from "../protocol/phase.ts";
import type { OperationCounts } from "../scheme/scheme.ts";
import type { CrewView } from "./crew-view.ts";
import type { PairwiseCounts } from "./events/alignment-events.ts";
import type { ActiveResult, DataSummary, JobParameters, JobVersions, PassiveResult } from "./events/job-events.ts";
import type { PartnerBudget } from "./events/privacy-events.ts";
import type { LayoutSummary, PhaseSpan } from "./events/training-events.ts";
import type { Metrics } from "./events/training-fields.ts";
import type { Failure } from "./log-line.ts";
import { noRounds, type RoundsSoFar } from "./redone-rounds.ts";

/** Interrupted: its process ended during the job. It may be resumed. */
export type JobState = "starting" | "aligning" | "aligned" | "training" | "finished" | "failed" | "interrupted";

/** Whether a process should be working on the job. */
export function isUnderWay(state: JobState): boolean {
  return state === "starting" || state === "aligning" || state === "training";
}

export interface PartyView {
  readonly name: string;
  readonly role: "active" | "passive";
  /** Whether this is the viewer. */
  readonly self: boolean;
  connected: boolean;
  doing: Phase | null;
  featureCount: number | null;
  /** Payload bytes between this party and the viewer (for the viewer itself: all of them). */
  sentBytes: number;
  receivedBytes: number;
}

export interface RoundMetrics {
  readonly tree: number;
  readonly at: number;
  readonly train: Metrics;
  readonly validation: Metrics | null;
}

export interface AlignmentView {
  readonly done: number;
  readonly total: number;
  readonly commonCount: number | null;
  /** When it ended; null: it has not. */
  readonly at: number | null;
  /** At the active party. */
  readonly pairwise: readonly PairwiseCounts[];
}

export interface JobView {
  party: string;
  role: "active" | "passive";
  job: string;
  state: JobState;
  startedAt: number;
  /** Time of the last event. */
  lastAt: number;
  trainingStartedAt: number | null;
  peers: string[];
  treeCount: number;
  depthMax: number;
  treesDone: number;
  level: number;
  parties: PartyView[];
  alignment: AlignmentView;
  parameters: JobParameters;
  versions: JobVersions | null;
  /** Shown to every viewer of the job; null: none. */
  warning: string | null;
  membership: MembershipFacts;
  data: DataSummary | null;
  kernel: string | null;
  layout: LayoutSummary | null;
  rounds: RoundMetrics[];
  /** When each tree was finished. */
  treeEnds: number[];
  /** Finished spans of the current tree and of the one before. */
  spans: { current: PhaseSpan[]; previous: PhaseSpan[] };
  /** Milliseconds per party and phase, over the whole job. */
  totals: Map<string, Map<Phase, number>>;
  counts: OperationCounts | null;
  /** Per peer, over all attempts. */
  ledgers: Map<string, Ledger>;
  /** Of earlier attempts. */
  earlierLedgers: Map<string, Ledger>;
  /** At a passive party: what its partner has received in all jobs, and the limits. */
  budget: PartnerBudget | null;
  /** Alarms for the party's owner: the first ones. */
  alarms: readonly { readonly peer: string; readonly words: string }[];
  /** What the job waits for: its turn at a party, or the next attempt after one that failed. Null: for nothing. */
  waiting: string | null;
  result: ActiveResult | null;
  passiveResult: PassiveResult | null;
  failure: Failure | null;
  /** How often the job was resumed. */
  resumed: number;
  /** Rounds done, and rounds repeated after a loss. */
  roundsSoFar: RoundsSoFar;
  /** This party's workers; null: it has none. */
  crew: CrewView | null;
}

export function emptyJobView(): JobView {
  return {
    party: "",
    role: "active",
    job: "",
    state: "starting",
    startedAt: 0,
    lastAt: 0,
    trainingStartedAt: null,
    peers: [],
    treeCount: 0,
    depthMax: 0,
    treesDone: 0,
    level: 0,
    parties: [],
    alignment: { done: 0, total: 0, commonCount: null, at: null, pairwise: [] },
    parameters: {},
    versions: null,
    warning: null,
    membership: membershipFacts.sent,
    data: null,
    kernel: null,
    layout: null,
    rounds: [],
    treeEnds: [],
    spans: { current: [], previous: [] },
    totals: new Map(),
    counts: null,
    ledgers: new Map(),
    earlierLedgers: new Map(),
    budget: null,
    alarms: [],
    waiting: null,
    result: null,
    passiveResult: null,
    failure: null,
    resumed: 0,
    roundsSoFar: noRounds,
    crew: null,
  };
}
