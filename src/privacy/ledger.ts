/**
 * The ledger of disclosures: how much of each entry of docs/leakage.md has passed between two parties so far. Both ends
 * count for themselves, where it happens; counts only, never what was disclosed.
 */
export interface LedgerEntry {
  readonly learner: "active" | "passive";
  /** As docs/leakage.md says it, word for word (a test compares). */
  readonly what: string;
  /** What is counted. */
  readonly unit: string;
}

export const ledgerEntries = {
  candidateSums: {
    learner: "active",
    what: "the sums of g and h of one side, and its count where that is told",
    unit: "unnamed candidates",
  },
  candidates: { learner: "active", what: "number of features and of split candidates", unit: "candidates in all" },
  candidateOrders: {
    learner: "active",
    what: "the order in which the node's candidates stand in their owner's table",
    unit: "unnamed candidates in order",
  },
  candidateLinks: {
    learner: "active",
    what: "which candidate is which over all trees",
    unit: "unnamed candidates",
  },
  drawnTogether: {
    learner: "active",
    what: "which candidates are drawn together",
    unit: "unnamed candidates drawn for a node",
  },
  splitOutcomes: {
    learner: "active",
    what: "which side each person of the node falls on, or everybody of the job where members are hidden",
    unit: "instances told a side",
  },
  outcomeTransfers: {
    learner: "active",
    what: "for each split that a passive party wins, which side each person of the node falls on",
    unit: "people of the job, where outcomes of the node's people only can be read",
  },
  splitGroups: {
    learner: "active",
    what: "for each split that it wins which of those that are open its feature is in",
    unit: "splits",
  },
  predictionOutcomes: {
    learner: "active",
    what: "the outcome of each of the party's splits",
    unit: "outcomes",
  },
  maskedScores: { learner: "active", what: "where scoring is masked, the score", unit: "scores" },
  encryptedGradients: { learner: "passive", what: "encrypted gradients only", unit: "ciphertexts" },
  memberships: {
    learner: "passive",
    what: "which instances are in each node that is split",
    unit: "instances of nodes",
  },
  openGroups: {
    learner: "passive",
    what: "which of the interaction groups that it has features in are open",
    unit: "nodes below a root",
  },
  wins: { learner: "passive", what: "which of its candidates win, and where some tied", unit: "splits won" },
  predictedIds: { learner: "passive", what: "the ids that are to be predicted", unit: "ids" },
} as const satisfies Record<string, LedgerEntry>;

export type LedgerName = keyof typeof ledgerEntries;
export type Ledger = Record<LedgerName, number>;

export function emptyLedger(): Ledger {
  return {
    candidateSums: 0,
    candidates: 0,
    candidateOrders: 0,
    candidateLinks: 0,
    drawnTogether: 0,
    splitOutcomes: 0,
    outcomeTransfers: 0,
    splitGroups: 0,
    predictionOutcomes: 0,
    maskedScores: 0,
    encryptedGradients: 0,
    memberships: 0,
    openGroups: 0,
    wins: 0,
    predictedIds: 0,
  };
}
