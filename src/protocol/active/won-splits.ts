/**
 * The splits that one passive party has won on a level: which of its tied candidates is named, and the members that go
 * left.
 *
 * The party receives one candidate per node. Where several tie, it is asked for the order of the node's candidates
 * first (scheme/candidates/candidate-order.ts). With noise there is no order: it would link candidates from tree to
 * tree, which noise hides. There the first is named, and its owner takes the first in tie order of those with the same
 * sums (scheme/candidates/same-sums.ts); others do not tie with it.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { entryIndices, entryCount } from "../../scheme/candidates/candidate-order.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { constraintsOfTied } from "../../scheme/candidates/same-sums.ts";
import type { TreeTask } from "./federated-tree.ts";
import type { NodeSums } from "./member-sums.ts";
import type { PeerSession } from "./peer-session.ts";
import type { SplitAnswer } from "./split-decision.ts";
import { isAlarming } from "./tie-alarm.ts";

type WonTask = Pick<TreeTask, "tree" | "gradients" | "onAlarm" | "membership" | "outputs">;

export interface WonNode {
  readonly node: NodeSums & Pick<GrowingNode, "id" | "interactions">;
  readonly tied: readonly BestCandidate[];
  /** All of the party's candidates there. */
  readonly rows: CandidateRows;
  /** Number of noise draws in the sum of each of them. */
  readonly draws: number;
}

/** Called for answers that are unlikely for honest columns; the job continues. */
export type OnAlarm = (party: string, tree: number, node: number, words: string) => void;

/** The party's answer per node. @throws TandemError PROTOCOL_STATE if the sides do not add up to the sums */
export async function requestWonSplits(
  session: PeerSession,
  { tree, gradients, onAlarm, membership, outputs }: WonTask,
  won: readonly WonNode[],
): Promise<Map<number, SplitAnswer>> {
  const hasNoise = gradients.noise !== undefined;
  const inTie = won.filter(({ tied }) => tied.length > 1);
  const orders =
    hasNoise || inTie.length === 0 ? new Map<number, Uint32Array>() : await askOrders(session, tree, inTie);
  const decisions = won.map((each) => {
    const { node, tied, rows, draws } = each;
    const order = orders.get(node.id);
    const ranks = order === undefined ? null : entryIndices(tied, rows).map((entry) => order[entry]);
    if (isAlarming({ ...countsOf(each, outputs), ranks, sampledCount: node.sampled.length }))
      onAlarm(session.name, tree, node.id, alarmText(tied.length, node.sampled.length));
    const first = ranks === null ? 0 : ranks.indexOf(Math.min(...ranks));
    return {
      node: node.id,
      instances: node.instances,
      interactions: node.interactions,
      named: tied[first],
      constraints: hasNoise ? constraintsOfTied(tied, rows, node.totals, limbsOf(gradients)) : 0,
      addsUp: (leftMembers: Uint8Array) => membership.addsUp(node, leftMembers, tied[first], draws),
    };
  });
  return membership.splits(session, decisions);
}

function limbsOf({ columns, grids }: QuantisedGradients): number {
  return columns.length / grids.length;
}

function askOrders(session: PeerSession, tree: number, inTie: readonly WonNode[]): Promise<Map<number, Uint32Array>> {
  return session.orders(tree, new Map(inTie.map(({ node, rows }) => [node.id, entryCount(rows)])));
}

/** Where counts are not sent, a side with a hessian is not empty. */
function countsOf(
  { node, tied, rows }: WonNode,
  outputs: readonly number[],
): { readonly tiedCount: number; readonly splittingCount: number } {
  const stride = node.totals.length;
  const isCounted = rows.rows.some((value, i) => i % stride === stride - 1 && value > 0);
  const column = isCounted ? stride - 1 : 2 * outputs[0] + 1;
  let splittingCount = 0;
  for (let at = column; at < rows.rows.length; at += stride) {
    const amount = rows.rows[at];
    if (amount > 0 && amount < node.totals[column]) splittingCount++;
  }
  return { tiedCount: tied.length, splittingCount };
}

function alarmText(tiedCount: number, count: number): string {
  return (
    `${tiedCount} of its candidates tie for the best gain over ${count} instances. Duplicated columns do that, ` +
    "and so do sums forged to find labels. One of them is named to it"
  );
}
