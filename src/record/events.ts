/**
 * The public event stream of a party: what a supervisor, a terminal or a page may see of a job. Never a row's value, a
 * gradient, a label, a threshold or a key.
 */
import type { Slot } from "../codec/slot.ts";
import type { PairwiseCounts } from "../align/active-alignment.ts";
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { ErrorCode } from "../base/error.ts";
import type { PhaseTimesMs } from "../protocol/active/role.ts";
import type { Ledger } from "../privacy/ledger.ts";
import type { Spending } from "../privacy/spending.ts";
import type { Traffic } from "../privacy/tally.ts";
import type { Phase } from "../protocol/phase.ts";
import type { OperationCounts } from "../scheme/scheme.ts";
import type { Disclosure } from "../privacy/disclosures.ts";
import type { CrewSummary } from "./crew-view.ts";
import type { ProcessUse } from "./process-meter.ts";

export type Metrics = Readonly<Record<string, number>>;

export type PartyEvent =
  | { readonly type: "listening"; readonly party: string; readonly process: number; readonly port: number }
  | {
      readonly type: "key";
      readonly party: string;
      readonly process: number;
      /** In words: "a 2048-bit Paillier key". */
      readonly key: string;
      /** There is none: the scheme draws secrets anew all the time, and `key` says what it is. Left out: there is. */
      readonly keyless?: boolean;
      readonly kernel: string;
    }
  | JobEvent
  | { readonly type: "data"; readonly party: string; readonly job: string; readonly data: DataSummary }
  | {
      readonly type: "aligning";
      readonly party: string;
      readonly peer: string;
      readonly job: string;
      readonly ownIdCount: number;
      readonly peerIdCount: number;
    }
  | { readonly type: "alignment-progress"; readonly party: string; readonly done: number; readonly total: number }
  | {
      readonly type: "aligned";
      readonly party: string;
      readonly job: string;
      readonly peer?: string;
      readonly commonCount: number;
      readonly pairwise?: readonly PairwiseCounts[];
    }
  | {
      readonly type: "joined";
      readonly party: string;
      readonly peer: string;
      readonly featureCount: number;
      readonly job?: string;
    }
  | {
      readonly type: "resumed";
      readonly party: string;
      readonly job: string;
      readonly trees: number;
      readonly treeCount: number;
      readonly commonCount?: number;
    }
  | {
      readonly type: "waiting";
      readonly party: string;
      readonly job: string;
      readonly delayMs: number;
      /** For how long it will be tried again, if nothing helps. */
      readonly leftMs?: number;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | {
      /** At the active party: a call to a passive one has not been answered for a while. */
      readonly type: "unanswered";
      readonly party: string;
      readonly job: string;
      readonly peer: string;
      readonly waitedMs: number;
      /** Whether that party says that it is working on it. */
      readonly isWorking: boolean;
    }
  | {
      /** At the active party: its scheme rounds gradients more coarsely than was asked for. */
      readonly type: "resolution";
      readonly party: string;
      readonly job: string;
      readonly scheme: string;
      readonly asked: number;
      readonly resolutionBits: number;
    }
  | { readonly type: "layout"; readonly party: string; readonly layout: LayoutSummary }
  | {
      readonly type: "tree";
      readonly party: string;
      readonly tree: number;
      readonly treeCount: number;
      readonly metrics: Metrics;
      readonly validation?: Metrics;
      readonly counts: OperationCounts;
    }
  | ProgressEvent
  | {
      /** At a passive party: what the active one has had of it in all jobs, and may have. */
      readonly type: "budget";
      readonly party: string;
      readonly peer: string;
      readonly spent: Spending;
      readonly limits: BudgetSummary;
      readonly today?: DaySummary;
    }
  | { readonly type: "ledger"; readonly party: string; readonly peer: string; readonly ledger: Ledger }
  | {
      readonly type: "passive-tree";
      readonly party: string;
      readonly peer: string;
      readonly job: string;
      readonly tree: number;
      readonly treeCount: number;
      readonly counts: OperationCounts;
    }
  | {
      readonly type: "job-ended";
      readonly party: string;
      readonly peer: string;
      readonly job: string;
      readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
    }
  | {
      readonly type: "refused";
      readonly party: string;
      readonly peer: string;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | {
      readonly type: "scored";
      readonly party: string;
      readonly peer: string;
      readonly job: string;
      readonly model: string;
      readonly requestCount: number;
      readonly idCount: number;
      readonly unknownCount: number;
    }
  /** Which splits share a feature was told, for explanations of scores. */
  | {
      readonly type: "explained";
      readonly party: string;
      readonly peer: string;
      readonly job: string;
      readonly model: string;
      readonly splitCount: number;
    }
  /** Somebody should look: another party does what honest ones hardly do, or a limit is nearly reached. */
  | { readonly type: "alarm"; readonly party: string; readonly peer: string; readonly words: string }
  /** Something of this party's own data or config that its owner should know, though nothing is wrong. */
  | { readonly type: "notice"; readonly party: string; readonly words: string }
  /** Of a party with workers: numbers, and names of its workers. They stay with the party, as its whole record does. */
  | { readonly type: "engine-awaited"; readonly party: string; readonly why: string }
  | { readonly type: "workers-awaited"; readonly party: string; readonly workers: number; readonly wanted: number }
  | { readonly type: "crew-opened"; readonly party: string; readonly blocks: number; readonly rowsPerBlock: number }
  | { readonly type: "tasks-opened"; readonly party: string; readonly workers: number }
  | { readonly type: "worker-joined"; readonly party: string; readonly worker: string; readonly threads: number }
  /** It was told to end, or nothing is heard of it; `blocks` is what it held when it was seen last. */
  | { readonly type: "worker-lost"; readonly party: string; readonly worker: string; readonly blocks: number }
  | {
      readonly type: "block-moved";
      readonly party: string;
      readonly block: number;
      readonly moves: number;
      /** Who has it now. */
      readonly worker?: string;
    }
  | { readonly type: "crew-progress"; readonly party: string; readonly crew: CrewSummary }
  | { readonly type: "epoch-lost"; readonly party: string; readonly code: string }
  | { readonly type: "turned-away"; readonly party: string; readonly address: string; readonly why: string }
  | { readonly type: "stopping"; readonly party: string }
  | { readonly type: "stopped"; readonly party: string }
  | { readonly type: "active-result"; readonly party: string; readonly result: ActiveResult }
  | { readonly type: "passive-result"; readonly party: string; readonly result: PassiveResult }
  | { readonly type: "error"; readonly party: string; readonly code: ErrorCode; readonly message: string };

export type Emit = (event: PartyEvent) => void;

/** What a policy allows one partner over all jobs, as its config names it; left out: no limit. */
export interface BudgetSummary {
  readonly sums_per_person?: number | undefined;
  readonly noisy_sums_per_person?: number | undefined;
  readonly outcomes_per_person?: number | undefined;
  readonly scored_people?: number | undefined;
}

/** What a partner has asked for on a day (of UTC), and may, by the names of the config. */
export interface DaySummary {
  readonly day: string;
  readonly used: Readonly<Record<string, number>>;
  readonly limits: Readonly<Record<string, number>>;
}

/** The slot layout as the job uses it, with the proof that no sum overflows. */
export interface LayoutSummary {
  readonly scheme: string;
  readonly kind: CodecParameters["layout"];
  readonly codec: CodecParameters["codec"];
  readonly slots: readonly Slot[];
  /** The number of values whose sum is proven not to overflow. */
  readonly instanceCountMax: number;
  /** Bits that a plaintext could hold. */
  readonly plaintextBitsMax: number;
  readonly ciphertextBytes: number;
  readonly plaintextsPerInstance: number;
  readonly plaintextBits: number;
  readonly sumsPerCiphertext: number;
  /** Gradients are encrypted anew for every node, and nothing is packed: the proof is the scheme's. Left out: no. */
  readonly hidesMembers?: boolean;
  readonly proof: readonly string[];
}

export interface ActiveResult extends ProcessUse {
  /** Of the model, those of a model that training went on from among them. */
  readonly trees: number;
  readonly startTrees?: number;
  readonly metrics: { readonly train: Metrics; readonly validation?: Metrics; readonly test: Metrics | null };
  /** The same of a model of the active party's own columns, where the comparison was asked for. */
  readonly alone?: ActiveResult["metrics"];
  readonly phasesMs: PhaseTimesMs & { readonly keygen: number; readonly training: number };
  readonly counts: OperationCounts;
  readonly bytes: Traffic;
}

export interface PassiveResult extends ProcessUse {
  /** Of the model, those of a model that training went on from among them. */
  readonly trees?: number;
  readonly counts: OperationCounts;
}

/** What a job is, said once at its beginning (and again when it is taken up after a stop). */
export interface JobEvent {
  readonly type: "job";
  readonly party: string;
  readonly role: "active" | "passive";
  readonly job: string;
  /** The other parties, as this one's config names them. */
  readonly peers: readonly string[];
  readonly treeCount: number;
  /** Those of a model that training goes on from, among them. */
  readonly startTrees?: number;
  readonly depthMax: number;
  /** Hyper-parameters as this party knows them. */
  readonly parameters: Readonly<Record<string, number | string | boolean>>;
  /** What everybody who looks at the job must be told: its key can be broken, for example. */
  readonly warning?: string;
  /** Its scheme hides from passive parties who is in a node. Left out: it does not. */
  readonly hidesMembers?: boolean;
  /** At a passive party: what the job will reveal, at most, under these parameters and this party's policy. */
  readonly disclosures?: readonly Disclosure[];
  readonly versions: { readonly tandem: string; readonly protocol: number; readonly node: string };
}

/** This party's own rows of a job. */
export interface DataSummary {
  readonly trainRows: number;
  readonly testRows: number;
  readonly featureCount: number;
}

/** Where a job stands: a snapshot every now and then, with what was finished since the last one. */
export interface ProgressEvent {
  readonly type: "progress";
  readonly party: string;
  readonly tree: number;
  readonly level: number;
  /** What every party that is busy is doing, as far as this one can tell. */
  readonly doing: Readonly<Record<string, Phase>>;
  /** Payload bytes so far; at a passive party both directions are with the active one. */
  readonly bytes: Readonly<Record<string, Traffic>>;
  readonly spans: readonly PhaseSpan[];
}

/** A piece of work that is over; times are milliseconds since the epoch. */
export interface PhaseSpan {
  readonly party: string;
  readonly phase: Phase;
  readonly tree: number;
  readonly level: number;
  readonly from: number;
  readonly to: number;
}
