/** What the trees of a job use of a partner's budget: the actual amount, and its upper bound. */
import { treeSizeMax } from "../gbdt/tree/grow.ts";
import { type MembershipFacts, membershipFacts } from "../base/membership.ts";
import { nothingSpent, numbersOpened, type Spending } from "./spending.ts";

/** The settings that bound what a tree can request. */
export interface SpendingTerms {
  readonly maxDepth: number;
  readonly maxLeaves: number;
  /** Pairs of g and h. */
  readonly outputs: number;
  readonly answerNoise: number;
  /** One candidate is opened of each node, derived ones included. Left out: all are sent, of requested nodes. */
  readonly hidesSums?: boolean;
  /** Left out: members are sent. */
  readonly membership?: MembershipFacts;
  /** Columns are sampled, so they differ from node to node. Left out: they are not. */
  readonly drawsColumns?: boolean;
  /** The tree is the root of a vetting. Left out: it is grown. */
  readonly isVetting?: boolean;
}

/** What a tree was answered. */
export interface TreeCounts {
  /** Nodes whose sums of all candidates were sent. */
  readonly nodes: number;
  /** Nodes of which the best candidate alone was opened. Left out: none. */
  readonly opened?: number;
  /** Sides of instances that were revealed, over all splits. */
  readonly outcomes: number;
}

/**
 * Noise of less than one instance's gradient hides no instance: such sums count as exact ones. Otherwise a little noise
 * would avoid the limit on exact sums.
 */
export function hidesSingleInstances(answerNoise: number): boolean {
  return answerNoise >= 1;
}

/**
 * Counts by what was sent, and not by what was agreed: sums of all candidates never count as opened ones.
 *
 * @param instances number of instances of the job
 * @param summed number of training rows: validation rows are in no sum
 */
export function treeSpending(
  { nodes, opened = 0, outcomes }: TreeCounts,
  terms: SpendingTerms,
  instances: number,
  summed = instances,
): Spending {
  const { membership = membershipFacts.sent } = terms;
  const isCounted = terms.answerNoise === 0 && membership.countsAreSent;
  const numbers = 2 * terms.outputs + (isCounted ? 1 : 0);
  const sums = (nodes * numbers) / summed;
  return {
    ...nothingSpent,
    [hidesSingleInstances(terms.answerNoise) ? "noisySumsPerPerson" : "sumsPerPerson"]: sums,
    openedPerPerson: (opened * numbersOpened) / summed,
    outcomesPerPerson: outcomes / instances,
    vettings: terms.isVetting === true ? 1 : 0,
  };
}

/** Upper bound for a tree: one node of every pair, and the side of every instance at every level, or at every split. */
export function treeSpendingMax(terms: SpendingTerms, instances: number, summed = instances): Spending {
  const { membership = membershipFacts.sent } = terms;
  if (terms.isVetting === true) return treeSpending({ nodes: 1, outcomes: 0 }, terms, instances, summed);
  const { pairs, nodes } = treeSizeMax(terms);
  const splits = (nodes - 1) / 2;
  const sides = terms.maxDepth > 0 && membership.outcomesCover === "node" ? terms.maxDepth : splits;
  const outcomes = sides * instances;
  // With hidden sums each node opens a candidate of its own.
  if (terms.hidesSums === true)
    return treeSpending({ nodes: 0, opened: 1 + 2 * pairs, outcomes }, terms, instances, summed);
  // Both children of a pair may be requested where members are hidden and columns are sampled.
  const isBoth = !membership.membersAreSent && terms.drawsColumns === true;
  return treeSpending({ nodes: 1 + pairs * (isBoth ? 2 : 1), outcomes }, terms, instances, summed);
}
