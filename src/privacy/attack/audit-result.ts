/** What an audit finds, as plain data: for the terminal, the report and the page. */
import type { MembershipFacts } from "../../base/membership.ts";
import type { Reach } from "../spending.ts";

/** Of three ways to learn it: outcomes in training, these with exact sums, and outcomes in scoring. */
export interface ByChannel {
  readonly outcomes: number;
  readonly sums: number;
  readonly scoring: number;
}

/** How much of one column can be computed. */
export interface ColumnExposure {
  readonly name: string;
  readonly bins: number;
  /** Entropy of the bins, per person. */
  readonly bits: number;
  /** Share of people whose bin is proven. */
  readonly certain: ByChannel;
  /** Bits per person that are left. */
  readonly left: ByChannel;
  /** With noise in the answers: the most bits per person that the sums can add. Null: sums are exact. */
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
  /** Share of (person, candidate) pairs whose side is proven with sums. */
  readonly candidateBits: number;
  readonly candidates: number;
  /** Candidates that could be followed from tree to tree. */
  readonly linked: number;
  readonly sumsPerPerson: number;
  readonly reach: Reach;
  /** Scoring tells outcomes of splits; otherwise scores alone, which are taken to tell the way through the trees. */
  readonly tellsScoring: boolean;
  readonly membership: MembershipFacts;
  /** Sums were taken apart; otherwise nothing is known of what they tell, but their number. */
  readonly triesSums: boolean;
  /** Proven bins that are not the true ones: zero. */
  readonly wrong: number;
  /** The attack ended by itself; otherwise more time may find more. */
  readonly isComplete: boolean;
}

/** How good a guess at labels is. */
export interface Guess {
  readonly auc: number;
  /** Share of the riskiest tenth, by the model, that the guess finds. */
  readonly tenth: number;
}

/** Guesses at labels without any known label, and with some. */
export interface LabelGuess {
  /** AUC of the model itself on these people. */
  readonly model: number;
  readonly without: Guess;
  /** AUC of the guess without a label after so many trees. */
  readonly byTree: readonly { readonly tree: number; readonly auc: number }[];
  /** Labels that the second guess knows. */
  readonly known: number;
  readonly withLabels: Guess;
}

/** What one passive party can say of the labels; null where labels are not of two classes, or nothing is seen. */
export interface LabelExposure {
  readonly party: string;
  /** Otherwise there is nothing to guess by but its own columns. */
  readonly membersAreSent: boolean;
  readonly guess: LabelGuess | null;
}

/** The job once more with a defence. */
export interface WhatIf {
  readonly name: string;
  /** On the test rows; null if there is none. */
  readonly testAuc: number | null;
  /** Means over the passive parties. */
  readonly certain: number;
  readonly scoringBits: number;
  readonly sumsBound: number | null;
  readonly labelsAuc: number | null;
}

/** What the same training tells with one of the schemes; means over the passive parties. */
export interface SchemeExposure {
  readonly scheme: string;
  /** The job's own. */
  readonly isOfJob: boolean;
  readonly membership: MembershipFacts;
  readonly tellsCounts: boolean;
  /** Per person: what the columns hold, and what is told of it. */
  readonly bits: number;
  readonly toldBits: Pick<ByChannel, "outcomes" | "sums">;
  readonly certain: Pick<ByChannel, "outcomes" | "sums">;
  /** Candidates that can be followed from tree to tree, and all of them. */
  readonly linked: number;
  readonly candidates: number;
  readonly labelsAuc: number | null;
  readonly isComplete: boolean;
}

/** What each party of a job can compute of the others' data. */
export interface AuditResult {
  /** Gradients were drawn at random, since the true ones are another's: an upper estimate. */
  readonly isEstimate: boolean;
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
  /** The first is the job as it is; null: not asked for. */
  readonly whatIf: readonly WhatIf[] | null;
  /** From one training what each scheme would tell; null: only this job's own is known. */
  readonly schemes: readonly SchemeExposure[] | null;
}
