/** What the trees of a job use of a partner's budget: the actual amount, and its upper bound. */
import { treeSizeMax } from "../gbdt/tree/grow.ts";
import { type MembershipFacts, membershipFacts } from "../base/membership.ts";
import { nothingSpent, type Spending } from "./spending.ts";

/** The settings that bound what a tree can request. */
export interface SpendingTerms {
  readonly maxDepth: number;
  readonly maxLeaves: number;
  /** Pairs of g and h. */
  readonly outputs: number;
  readonly answerNoise: number;
  /** One candidate is revealed of each node, derived ones included. Left out: all, of requested nodes. */
  readonly hidesSums?: boolean;
  /** Left out: members are sent. */
  readonly membership?: MembershipFacts;
  /** Columns are sampled, so they differ from node to node. Left out: they are not. */
  readonly drawsColumns?: boolean;
  /** The tree is the root of a vetting. Left out: it is grown. */
  readonly isVetting?: boolean;
}

/** Of a tree: the nodes whose sums were answered, and the sides of instances that were revealed, over all splits. */
export interface TreeCounts {
  readonly nodes: number;
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
 * @param instances number of instances of the job
 * @param summed number of training rows: validation rows are in no sum
 */
export function treeSpending(
  { nodes, outcomes }: TreeCounts,
  terms: SpendingTerms,
  instances: number,
  summed = instances,
): Spending {
  const { membership = membershipFacts.sent } = terms;
  const outputs = terms.hidesSums === true ? 1 : terms.outputs;
  const isCounted = terms.answerNoise === 0 && terms.hidesSums !== true && membership.countsAreSent;
  const numbers = 2 * outputs + (isCounted ? 1 : 0);
  const sums = (nodes * numbers) / summed;
  return {
    ...nothingSpent,
    [hidesSingleInstances(terms.answerNoise) ? "noisySumsPerPerson" : "sumsPerPerson"]: sums,
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
  // Both children of a pair may be requested where members are hidden and columns are sampled. With hidden sums each
  // node reveals a candidate of its own.
  const isBoth = terms.hidesSums === true || (!membership.membersAreSent && terms.drawsColumns === true);
  const asked = 1 + pairs * (isBoth ? 2 : 1);
  return treeSpending({ nodes: asked, outcomes: sides * instances }, terms, instances, summed);
}
