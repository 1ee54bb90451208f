/**
 * The candidates of passive parties in a tree whose sums are hidden: of each node and party the best one, if it is
 * better than the best of this party's own columns. The rules are those of gbdt/split/integer-rule.ts.
 */
import { assert } from "../../base/assert.ts";
import type { PartySplit } from "../../gbdt/split/best-split.ts";
import type { TreeGain } from "../../gbdt/split/gain.ts";
import { isBetter, type NodeRule, type Score } from "../../gbdt/split/integer-rule.ts";
import type { SentTotals } from "../../gbdt/split/sent-totals.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import type { NodeMaximum } from "../../scheme/maximum/active-maximum.ts";
import { derivedShares, type NodeShares } from "../../scheme/maximum/node-shares.ts";
import { bitsFor, sharesRing, sumsMost } from "../hidden-sums.ts";
import type { TreeTask } from "./federated-tree.ts";
import type { AskedNode } from "./membership.ts";
import type { AskedMaximum } from "./peer-maximum.ts";

/** A node of a level, with the best of this party's own columns. */
export interface OwnedNode extends AskedNode {
  readonly own: PartySplit | null;
}

type Sharing = Pick<TreeTask, "tree" | "layout" | "sessions">;

export class HiddenSums {
  readonly #task: Sharing;
  readonly #gain: TreeGain;
  readonly #totals: SentTotals;
  /** Per session, by node. */
  readonly #shares: readonly Map<number, NodeShares>[];

  constructor(task: Sharing, gain: TreeGain, totals: SentTotals) {
    this.#task = task;
    this.#gain = gain;
    this.#totals = totals;
    this.#shares = task.sessions.map(() => new Map<number, NodeShares>());
  }

  /**
   * Per node and session its candidates: one, or none.
   * @param received per session, by node
   */
  async candidates(
    nodes: readonly OwnedNode[],
    received: readonly ReadonlyMap<number, NodeShares>[],
    isClosed: (session: number, node: number) => boolean,
  ): Promise<CandidateRows[][]> {
    const bySession = await Promise.all(
      received.map((ofSession, session) => this.#ofSession(session, nodes, ofSession, isClosed)),
    );
    return nodes.map(({ node }) => bySession.map((rows) => rows.get(node.id) ?? noCandidates));
  }

  async #ofSession(
    index: number,
    nodes: readonly OwnedNode[],
    received: ReadonlyMap<number, NodeShares>,
    isClosed: (session: number, node: number) => boolean,
  ): Promise<Map<number, CandidateRows>> {
    const { tree, sessions, layout } = this.#task;
    const session = sessions[index];
    const known = this.#shares[index];
    for (const [node, shares] of received) known.set(node, shares);
    const asked = nodes.flatMap((each) => {
      if (isClosed(index, each.node.id)) return [];
      const rule = this.#ruleOf(each.node);
      const found = this.#sharesOf(index, each);
      return found === null
        ? []
        : [{ ...each, rule, asked: { ...found, totals: totalsOf(rule, each.own, this.#bits(rule)) } }];
    });
    if (asked.length === 0) return new Map();
    const [{ rule }] = asked;
    const bits = this.#bits(rule);
    const best = await session.maximum.best(
      tree,
      { bits, shareBits: sharesRing(bits, session.maskBits) },
      rule.lambda,
      asked.map((each) => each.asked),
    );
    assert(layout.slots[this.#gain.slot].noise !== undefined, "hidden sums have no counts");
    return new Map(asked.map(({ node, own, rule: ofNode }, i) => [node.id, this.#opened(index, ofNode, own, best[i])]));
  }

  /** The node's shares, as received or derived. Null: the party has no candidates there. */
  #sharesOf(index: number, { node, pair }: OwnedNode): Pick<AskedMaximum, "node" | "shares" | "derived"> | null {
    const known = this.#shares[index];
    const own = known.get(node.id);
    if (own !== undefined) return own.candidates === 0 ? null : { node: node.id, shares: own, derived: null };
    assert(pair !== null, "the sums of a root are requested");
    const [parent, sibling] = [pair.parent.id, (node === pair.left ? pair.right : pair.left).id];
    const [above, beside] = [known.get(parent), known.get(sibling)];
    assert(above !== undefined && beside !== undefined, "one child of each pair is requested");
    const shares = derivedShares(above, beside);
    if (shares === null)
      throw this.#task.sessions[index].deviates("a different number of candidates for a node than for its parent");
    known.set(node.id, shares);
    return shares.candidates === 0 ? null : { node: node.id, shares, derived: { parent, sibling } };
  }

  #ruleOf(node: GrowingNode): NodeRule {
    const rule = this.#gain.ruleOf(this.#totals.of(node));
    assert(rule !== null, "candidates are compared in integers");
    return rule;
  }

  #bits({ lambda }: NodeRule): number {
    const { slots, instanceCountMax } = this.#task.layout;
    const unit = slots[this.#gain.slot].noise?.largest ?? 0;
    return bitsFor(sumsMost(instanceCountMax, Math.log2(unit)) + 2 * lambda);
  }

  #opened(index: number, rule: NodeRule, own: PartySplit | null, best: NodeMaximum | undefined): CandidateRows {
    if (best === undefined) return noCandidates;
    const [g, h] = [Number(best.gradient), Number(best.hessian) - rule.lambda];
    const score = rule.score(g, h);
    if (score === null || (own?.score !== undefined && !isBetter(score, own.score)))
      throw this.#task.sessions[index].deviates("a best candidate that does not win");
    const row = new Float64Array(this.#task.layout.slots.length + 1);
    row[this.#gain.slot] = g;
    row[this.#gain.slot + 1] = h;
    return { ...noCandidates, rows: row, suppressed: new Uint8Array(1), names: [best.placeShare] };
  }
}

/** What only this party knows of a node. */
function totalsOf(rule: NodeRule, own: PartySplit | null, bits: number): AskedMaximum["totals"] {
  const rival = own?.score === undefined ? {} : { rival: rivalOf(own.score) };
  // Of a node without a hessian nothing is allowed.
  return {
    gradient: BigInt(rule.total),
    hessian: BigInt(Math.max(1, rule.weight)),
    minimum: rule.leastProduct ?? (1n << BigInt(2 * bits - 2)) - 1n,
    ...rival,
  };
}

function rivalOf({ size, y, rest }: Score): { readonly square: bigint; readonly product: bigint } {
  return { square: BigInt(size) ** 2n, product: BigInt(y) * BigInt(rest) };
}
