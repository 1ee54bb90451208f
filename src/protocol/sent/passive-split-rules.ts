/**
 * Rules for splitting the nodes of a tree, enforced against a deviating active party. Sums over two different splits of
 * a node would reveal the sums over the few instances in which they differ; so a node is split once, over all attempts
 * at its round.
 *
 * Where this party has split a node itself, its children must be the two sides. Splits of other parties cannot be
 * checked here: an active party that forges them can choose the members freely, within the minimums.
 */
import { TandemError } from "../../base/error.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import { limitsSplits } from "../../gbdt/split/revealed-splits.ts";
import type { Parted } from "../../scheme/candidates/tree-nodes.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { AnsweredSplits } from "../passive/answered-splits.ts";
import type { SplitAnswer } from "../passive/decide-split.ts";
import { membersDigest } from "../passive/digests.ts";
import type { NodeSplit } from "../passive/round-store.ts";
import { SplitCount } from "../passive/split-count.ts";
import type { SplitRules } from "../passive/split-decisions.ts";
import type { AnswerStore } from "./passive-answers.ts";

export class NodeSplitRules implements SplitRules {
  readonly #agreed: AgreedParameters;
  readonly #store: AnswerStore;
  readonly #answered: AnsweredSplits;
  #tree = -1;
  /** Nodes with known children, in this attempt or before. */
  #parted = new Set<number>();
  /** These, and nodes that this party has split. */
  readonly #split: SplitCount;

  constructor(agreed: AgreedParameters, store: AnswerStore, answered: AnsweredSplits) {
    this.#agreed = agreed;
    this.#store = store;
    this.#answered = answered;
    this.#split = new SplitCount(agreed);
  }

  /** Called after the earlier answers of the tree are loaded. */
  beginTree(tree: number): void {
    this.#tree = tree;
    this.#parted = new Set(this.#store.splits(tree).keys());
    this.#split.beginTree(tree, [...this.#parted, ...this.#answered.nodesOf(tree)]);
  }

  /** @throws TandemError PROTOCOL_STATE if the node may not be split like this */
  checkNodeSplit(parted: Parted): void {
    const { parent, node, sibling } = parted;
    const [left, right] = [Math.min(node, sibling), Math.max(node, sibling)];
    const before = this.#before(parted);
    if (before.some((split) => !isSame(split, parted)))
      throw new TandemError(
        "PROTOCOL_STATE",
        `nodes ${left} and ${right} differ from the earlier children of node ${parent}`,
      );
    const ownLeft = this.#answered.leftOf(this.#tree, parent);
    if (ownLeft !== null && membersDigest(membersOf(left, parted)) !== ownLeft)
      throw new TandemError("PROTOCOL_STATE", `nodes ${left} and ${right} are not the sides of node ${parent}'s split`);
    if (!this.#parted.has(parent) && this.#parted.size === treeSizeMax(this.#agreed).pairs)
      throw new TandemError("PROTOCOL_STATE", `node ${parent} is one more split than a tree of this job may have`);
    this.#split.add(parent);
    this.#parted.add(parent);
  }

  /** @throws TandemError PROTOCOL_STATE if one of these nodes may not be split by this party */
  checkSplits(asked: readonly number[]): void {
    const own = this.#answered.nodesOf(this.#tree);
    for (const node of asked) {
      if (own.has(node)) continue; // it gets the same answer, or is refused
      if (this.#parted.has(node))
        throw new TandemError("PROTOCOL_STATE", `node ${node} was already split, and not by this party`);
      if (!this.#isOffered(node))
        throw new TandemError("PROTOCOL_STATE", `node ${node} is to be split, but its candidates were not requested`);
    }
    for (const node of asked) this.#split.add(node);
  }

  known(answer: SplitAnswer): SplitAnswer {
    return answer;
  }

  /** Known splits of this parent, or with one of these children. */
  #before({ parent, node, sibling }: Parted): NodeSplit[] {
    const known = this.#store.splits(this.#tree);
    const above = known.get(parent);
    const others = [...known.values()].filter((split) => [node, sibling].some((child) => isChild(split, child)));
    return above === undefined ? others : [above, ...others];
  }

  /** The trees of a round share their root, unless columns or thresholds differ. */
  #isOffered(node: number): boolean {
    const { colsampleBytree, colsampleBylevel, colsampleBynode, defences, treesPerRound } = this.#agreed;
    const tree = this.#tree;
    const isSameRoot = colsampleBytree * colsampleBylevel * colsampleBynode === 1 && !limitsSplits(defences);
    const first = node === 0 && isSameRoot ? tree - (tree % treesPerRound) : tree;
    for (let t = first; t <= tree; t++) if (this.#store.isAnswered(t, node)) return true;
    return false;
  }
}

function isChild({ node, sibling }: NodeSplit, child: number): boolean {
  return child === node || child === sibling;
}

function isSame(before: NodeSplit, parted: Parted): boolean {
  const { parent, node, sibling } = parted;
  if (before.parent !== parent || !isChild(before, node) || !isChild(before, sibling)) return false;
  if ((before.open ?? 0) !== parted.open) return false;
  return membersDigest(membersOf(before.node, parted)) === before.members;
}

/** Members of one of the two children. */
function membersOf(child: number, { node, inside, outside }: Parted): Uint32Array {
  return child === node ? inside : outside;
}
