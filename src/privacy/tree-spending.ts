/** What the trees of a job take of a partner's budget: what they took, and the most that they can take. */
import { treeSizeMax } from "../gbdt/tree/grow.ts";
import { type MembershipFacts, membershipFacts } from "../base/membership.ts";
import { nothingSpent, type Spending } from "./spending.ts";

/** What says how much a tree can ask for. */
export interface SpendingTerms {
  readonly maxDepth: number;
  readonly maxLeaves: number;
  /** Pairs of g and h. */
  readonly outputs: number;
  readonly answerNoise: number;
  /** Left out: members are sent. */
  readonly membership?: MembershipFacts;
  /** Columns differ from node to node. Left out: they do not. */
  readonly drawsColumns?: boolean;
}

/** Of a tree: the nodes whose sums were answered, and how many people were told a side, all splits together. */
export interface TreeCounts {
  readonly nodes: number;
  readonly outcomes: number;
}

/**
 * Noise of less than one person's gradient hides nobody: such sums count as exact ones. Otherwise a little of it would
 * be a way around their limit.
 */
export function hidesPeople(answerNoise: number): boolean {
  return answerNoise >= 1;
}

/**
 * @param people those of the job
 * @param summed those of them that trees learn from: rows that are held back for validation are in no sum
 */
export function treeSpending(
  { nodes, outcomes }: TreeCounts,
  terms: SpendingTerms,
  people: number,
  summed = people,
): Spending {
  const { membership = membershipFacts.sent } = terms;
  const numbers = 2 * terms.outputs + (terms.answerNoise === 0 && membership.countsAreSent ? 1 : 0);
  const sums = (nodes * numbers) / summed;
  return {
    ...nothingSpent,
    [hidesPeople(terms.answerNoise) ? "noisySumsPerPerson" : "sumsPerPerson"]: sums,
    outcomesPerPerson: outcomes / people,
  };
}

/** What a tree can ask for at most: a node of every pair, and everybody's side at every level, or of every split. */
export function treeSpendingMax(terms: SpendingTerms, people: number, summed = people): Spending {
  const { membership = membershipFacts.sent } = terms;
  const { pairs, nodes } = treeSizeMax(terms);
  const splits = (nodes - 1) / 2;
  const sides = terms.maxDepth > 0 && membership.outcomesCover === "node" ? terms.maxDepth : splits;
  // Both children of a pair may be asked for where members are hidden and columns differ.
  const asked = 1 + pairs * (!membership.membersAreSent && terms.drawsColumns === true ? 2 : 1);
  return treeSpending({ nodes: asked, outcomes: sides * people }, terms, people, summed);
}
