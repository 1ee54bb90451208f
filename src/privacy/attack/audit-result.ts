/** The result of an audit as plain data, for the terminal, the report and the page. */
import type { MembershipFacts } from "../../base/membership.ts";
import type { Reach } from "../spending.ts";

/** One value per channel: outcomes in training, outcomes with exact sums, and outcomes in scoring. */
export interface ByChannel {
  readonly outcomes: number;
  readonly sums: number;
  readonly scoring: number;
}

/** How much of one column can be computed. */
export interface ColumnExposure {
  readonly name: string;
  readonly bins: number;
  /** Entropy of the bins, per instance. */
  readonly bits: number;
  /** Share of instances whose bin is proven. */
  readonly certain: ByChannel;
  /** Bits per instance that remain unknown. */
  readonly left: ByChannel;
  /**
   * With noise in the answers, or hidden sums: upper bound of the bits per instance that the sums add. Null: sums are
   * exact.
   */
  readonly sumsBound: number | null;
}

/** How much of a passive party's table the active party can compute. */
export interface PartyExposure {
  readonly party: string;
  readonly people: number;
  readonly trees: number;
  readonly columns: readonly ColumnExposure[];
  readonly bits: number;
  /** Mean over columns. */
  readonly certain: ByChannel;
  readonly left: ByChannel;
  /** Share of (instance, candidate) pairs whose side is proven with sums. */
  readonly candidateBits: number;
  readonly candidates: number;
  /** Candidates that could be linked from tree to tree. */
  readonly linked: number;
  readonly sumsPerPerson: number;
  /**
   * Sums were hidden, and sumsPerPerson are those of best candidates that were opened: what they reveal at most, in
   * bits per person of all columns together. Null: sums were not hidden.
   */
  readonly openedBits: number | null;
  /** What exact sums of all candidates may reveal; null: these have noise, or are of best candidates only. */
  readonly reach: Reach | null;
  /**
   * Scoring reveals outcomes of splits; otherwise scores alone, which are assumed to reveal the path through the trees.
   */
  readonly tellsScoring: boolean;
  readonly membership: MembershipFacts;
  /** The attack on sums was run; otherwise only the number of sums is known. */
  readonly triesSums: boolean;
  /** Proven bins that are wrong; always zero. */
  readonly wrong: number;
  /** The attack ended before its deadline; otherwise more time may find more. */
  readonly isComplete: boolean;
}

/** Quality of a guess at labels. */
export interface Guess {
  readonly auc: number;
  /** Share of the model's tenth with the highest scores that the guess finds. */
  readonly tenth: number;
}

/** Guesses at labels without any known label, and with some. */
export interface LabelGuess {
  /** AUC of the model itself on these instances. */
  readonly model: number;
  readonly without: Guess;
  /** AUC of the guess without a label after the first `tree` trees. */
  readonly byTree: readonly { readonly tree: number; readonly auc: number }[];
  /** Number of labels that the second guess knows. */
  readonly known: number;
  readonly withLabels: Guess;
}

/** What one passive party can infer about labels; null where labels are not binary, or the party sees no nodes. */
export interface LabelExposure {
  readonly party: string;
  /** Otherwise it can only guess from its own columns. */
  readonly membersAreSent: boolean;
  readonly guess: LabelGuess | null;
}

/** The job trained again with a defence. */
export interface WhatIf {
  readonly name: string;
  /** On the test rows, `auc` or the metric that would decide early stopping; null if there are none. */
  readonly testMetric: { readonly name: string; readonly value: number } | null;
  /** Means over the passive parties. */
  readonly certain: number;
  readonly scoringBits: number;
  readonly sumsBound: number | null;
  readonly labelsAuc: number | null;
}

/** What the same training reveals with one of the schemes; means over the passive parties. */
export interface SchemeExposure {
  readonly scheme: string;
  /** This is the scheme of the job. */
  readonly isOfJob: boolean;
  readonly membership: MembershipFacts;
  readonly tellsCounts: boolean;
  /** Per instance: entropy of the columns, and the bits that are revealed. */
  readonly bits: number;
  readonly toldBits: ByChannel;
  /** With noise in the answers, or hidden sums: upper bound of the bits that sums add. Null: sums are exact. */
  readonly sumsBound: number | null;
  readonly certain: Pick<ByChannel, "outcomes" | "sums">;
  /** Candidates that can be linked from tree to tree, and all of them. */
  readonly linked: number;
  readonly candidates: number;
  readonly labelsAuc: number | null;
  readonly isComplete: boolean;
}

/** What a preset costs: its metric on test rows, over splits of the rows and draws of noise. */
export interface PresetPrice {
  readonly preset: string;
  /** "exact", "hidden", or their noise. */
  readonly sums: string;
  readonly metric: string;
  /** Of the active party's own columns. */
  readonly alone: number;
  readonly value: number;
  /** Share of the federation's gain; null: the others' columns add nothing. */
  readonly kept: number | null;
  /** Of single splits and draws. */
  readonly lowest: number;
  readonly highest: number;
}

/** What a preset reveals and takes with one of the schemes. */
export interface PresetOutlook {
  readonly preset: string;
  readonly scheme: string;
  /** This is the scheme of the job. */
  readonly isOfJob: boolean;
  /** "exact", "hidden", or their noise. */
  readonly sums: string;
  /** Why the scheme cannot train the job with this preset; null: it can. */
  readonly refusal: string | null;
  /** Means over the passive parties; null: it cannot be trained. */
  readonly exposure: PresetExposure | null;
  readonly cost: PresetCost | null;
}

/** Of the whole job, as `tandem estimate` predicts it. */
export interface PresetCost {
  /** With all parties on this machine. */
  readonly seconds: number;
  /** With parties on hosts of their own. */
  readonly overLine: { readonly megabitsPerSecond: number; readonly roundTripMs: number; readonly seconds: number };
  readonly bytes: number;
}

/** Bits are per instance, over all columns of a passive party. */
export interface PresetExposure {
  /** Entropy of the columns. */
  readonly bits: number;
  readonly outcomes: number;
  /** What sums add to that. */
  readonly sums: number;
  /** `sums` is an upper bound; otherwise as much is proven. */
  readonly sumsAreBound: boolean;
  readonly scores: number;
  /** The better guess of a passive party at the labels. */
  readonly labelsAuc: number | null;
  /** The attack on sums ended before its deadline; otherwise more time may find more. */
  readonly isComplete: boolean;
}

/** What each party of a job can compute about the others' data. */
export interface AuditResult {
  /** Gradients were drawn at random, since another party has the true ones: an upper estimate. */
  readonly isEstimate: boolean;
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
  /** The first is the job as it is; null: not requested. */
  readonly whatIf: readonly WhatIf[] | null;
  /** What each preset costs; null or left out: not requested. */
  readonly prices?: readonly PresetPrice[] | null | undefined;
  /** What each preset reveals and takes, by scheme; left out: not requested. */
  readonly presets?: readonly PresetOutlook[] | undefined;
  /** What each scheme would reveal, from one training; null: known for the job's own scheme only. */
  readonly schemes: readonly SchemeExposure[] | null;
}
