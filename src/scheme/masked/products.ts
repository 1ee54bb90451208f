/**
 * A model as a sum of products, for masked scoring. With the active party's own splits decided, a tree is a choice
 * between leaves by passive splits alone. Let V be the leaf that is reached if every passive split goes right. Each
 * passive split n that can be reached corrects that:
 *
 *   weight = V(root) + sum over n of (V(left of n) - V(right of n)) * [the path to n is taken, and n goes left]
 *
 * The difference is the active party's secret; it is 0 where its own splits rule n out. The bracket is a product of
 * conditions, one per passive party that has a split on the path. So there are as many products as passive splits,
 * fewer than leaves, and one condition covers all splits of a party on the path.
 *
 * A passive party gets, once per model and for each product with splits of its own, the list of these splits and the
 * side that each must go to. That shows the order of its own splits in a tree, and below which of them other passive
 * parties' splits are; no threshold, weight or outcome, and nothing of the active party's splits.
 *
 * @reveals passive: which of its own splits are on the path to which, and to other passive parties' splits
 */
import type { Tree } from "../../gbdt/tree/tree.ts";
import { addResidues } from "../../crypto/transfer/residues.ts";
import { ExactWeights, type ScoreWeights } from "./exact-weights.ts";
import { NoisyWeights } from "./score-noise.ts";
import { walkedRows, type WriteOutcomes, writeDifferences } from "./tree-values.ts";

/** The owner of a split: 0 is the active party. */
export type OwnedTree = Tree<{ readonly owner: number }>;

interface Product {
  readonly tree: number;
  readonly node: number;
  /** Per passive party, from 1: 2 * the index of its split + 1 if it must go left. */
  readonly literals: ReadonlyMap<number, readonly number[]>;
}

/** A passive party's conditions in a model. */
export interface PartyProducts {
  /** The party's number in the model, from 1. */
  readonly owner: number;
  /** Its splits in all trees that it answers for. */
  readonly splitCount: number;
  /** The products that it has a condition in, ascending. */
  readonly products: Uint32Array;
  /** Its conditions, in their order. */
  readonly conditions: readonly (readonly number[])[];
  /** Per run, how many of them. */
  readonly runs: readonly number[];
}

export interface ProductModel {
  readonly trees: readonly OwnedTree[];
  readonly outputCount?: number | undefined;
  /** Deviation of the noise in scores; left out: none. */
  readonly scoreNoise?: number | undefined;
}

export class Products {
  readonly weights: ScoreWeights;
  /** 32-bit words of a product, and of all sums of a row. */
  readonly width: number;
  readonly rowWords: number;
  /** Products by run: trees of one output each add to theirs, trees of all outputs to all. */
  readonly runs: readonly number[];
  /** Only parties with a condition. */
  readonly parties: readonly PartyProducts[];
  readonly #trees: readonly OwnedTree[];
  readonly #products: readonly Product[];
  /** Per tree: its products, by index, and the children of their splits. */
  readonly #ofTree: readonly { product: number; node: number; left: number; right: number }[][];
  /** Per tree: the words of each node that is a leaf. */
  readonly #leaves: readonly Uint32Array[];
  /** Per tree: the offset of its output among a row's words. */
  readonly #outputAt: readonly number[];

  /** @param answered trees that passive parties count their splits in: after early stopping more than the model's */
  constructor({ trees, outputCount = 1, scoreNoise = 0 }: ProductModel, answered: readonly OwnedTree[] = trees) {
    this.#trees = trees;
    const { products, splitCounts } = productsOf(trees, answered);
    this.weights =
      scoreNoise > 0 ? new NoisyWeights(trees, outputCount, scoreNoise, splitCounts.size) : new ExactWeights(trees);
    const { limbs } = this.weights;
    const isJoint = trees.some((tree) => tree.some((node) => node.kind === "leaf" && node.weights !== undefined));
    const runCount = isJoint ? 1 : outputCount;
    this.width = isJoint ? outputCount * limbs : limbs;
    this.rowWords = outputCount * limbs;
    this.#outputAt = trees.map((_, tree) => (tree % runCount) * this.width);
    this.#leaves = trees.map((tree, index) => this.#leafWords(tree, index % outputCount));
    const runOf = ({ tree }: Product): number => tree % runCount;
    this.#products = products.toSorted((a, b) => runOf(a) - runOf(b)); // stable: within a run in tree order
    this.#ofTree = trees.map(() => []);
    this.#products.forEach(({ tree, node }, product) => {
      const split = trees[tree][node];
      if (split.kind === "split") this.#ofTree[tree].push({ product, node, left: split.left, right: split.right });
    });
    const runsOf = (some: readonly Product[]): number[] =>
      Array.from({ length: runCount }, (_, run) => some.filter((product) => runOf(product) === run).length);
    this.runs = runsOf(this.#products);
    this.parties = [...splitCounts]
      .toSorted(([a], [b]) => a - b)
      .map(([owner, splitCount]) => {
        const places = [...this.#products.keys()].filter((i) => this.#products[i].literals.has(owner));
        const own = places.map((i) => this.#products[i]);
        const conditions = own.map(({ literals }) => literals.get(owner) ?? []);
        return { owner, splitCount, products: Uint32Array.from(places), conditions, runs: runsOf(own) };
      })
      .filter(({ products: own }) => own.length > 0);
  }

  get count(): number {
    return this.#products.length;
  }

  /**
   * @param own the outcomes of own splits
   * @returns per product and row its number, and per row the constant added to all products
   */
  values(rowCount: number, own: WriteOutcomes): { readonly values: Uint32Array; readonly constants: Uint32Array } {
    const values = new Uint32Array(this.count * rowCount * this.width);
    const constants = new Uint32Array(rowCount * this.rowWords);
    const shape = { width: this.width, limbs: this.weights.limbs };
    this.#trees.forEach((tree, t) => {
      const corrections = this.#ofTree[t];
      const leaves = this.#leaves[t];
      for (const { first, count, reached, isOpen } of walkedRows(tree, rowCount, (node, from, target) =>
        own(t, node, from, target),
      )) {
        for (let row = 0; row < count; row++) {
          const at = (first + row) * this.rowWords + this.#outputAt[t];
          addResidues(constants, leaves, shape.limbs, 1, at, reached[0][row] * this.width, this.width);
        }
        for (const { product, node, left, right } of corrections) {
          const from = (product * rowCount + first) * this.width;
          const target = values.subarray(from, from + count * this.width);
          writeDifferences(target, leaves, shape, { left: reached[left], right: reached[right], isOpen: isOpen[node] });
        }
      }
    });
    return { values, constants };
  }

  #leafWords(tree: OwnedTree, output: number): Uint32Array {
    const { limbs } = this.weights;
    const words = new Uint32Array(tree.length * this.width);
    tree.forEach((node, i) => {
      if (node.kind !== "leaf") return;
      const at = i * this.width;
      if (node.weights !== undefined) node.weights.forEach((w, k) => this.weights.write(words, at + k * limbs, w));
      else this.weights.write(words, at + (this.width === limbs ? 0 : output * limbs), node.weight);
    });
    return words;
  }
}

function productsOf(
  trees: readonly OwnedTree[],
  answered: readonly OwnedTree[],
): { readonly products: readonly Product[]; readonly splitCounts: ReadonlyMap<number, number> } {
  const products: Product[] = [];
  const splitCounts = new Map<number, number>();
  answered.forEach((tree, t) => {
    const paths = tree.map((): Map<number, readonly number[]> => new Map());
    const isOfModel = t < trees.length;
    tree.forEach((split, node) => {
      if (split.kind === "leaf") return;
      const { owner } = split.rule;
      const place = owner === 0 ? 0 : (splitCounts.get(owner) ?? 0);
      for (const [child, left] of [[split.left, 1] as const, [split.right, 0] as const]) {
        const path = new Map(paths[node]);
        if (owner > 0) path.set(owner, [...(path.get(owner) ?? []), 2 * place + left]);
        paths[child] = path;
      }
      if (owner === 0) return;
      splitCounts.set(owner, place + 1);
      if (isOfModel) products.push({ tree: t, node, literals: paths[split.left] });
    });
  });
  return { products, splitCounts };
}
