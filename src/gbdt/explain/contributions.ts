/**
 * SHAP values of a model's margins: per instance and output the contribution of each column, and a bias that is the
 * same for all instances. Contributions and bias sum up to the margin. Exact path-dependent TreeSHAP with covers as
 * weights, as XGBoost's `pred_contribs`.
 */
import { assert } from "../../base/assert.ts";
import { type CategoryNames, columnTest } from "../split/split-test.ts";
import type { Model } from "../tree/model.ts";
import type { LeafNode, SplitRule, Tree } from "../tree/tree.ts";
import { withWeightsInLeaves } from "../tree/weighted-trees.ts";
import { absentPlayer, addTreeContributions, type ContributionTable } from "./tree-contributions.ts";

/** Which splits of a tree count as one feature (a player), and where its values are added. */
export interface TreePlayers {
  /** Per node: the player of its split, from 0 on, or absentPlayer; unused for leaves. */
  readonly players: Int32Array;
  /** Per player. */
  readonly columns: Int32Array;
}

/** Players by a key of each split; null: the split takes no part. */
export function playersBy<R>(
  tree: Tree<R>,
  keyOf: (rule: R, node: number) => string | number | null,
  columnOf: (rule: R, node: number) => number,
): TreePlayers {
  const found = new Map<string | number, number>();
  const columns: number[] = [];
  const players = Int32Array.from(tree, (at, node) => {
    if (at.kind === "leaf") return -1;
    const key = keyOf(at.rule, node);
    if (key === null) return absentPlayer;
    const player = found.get(key) ?? columns.push(columnOf(at.rule, node)) - 1;
    found.set(key, player);
    return player;
  });
  return { players, columns: Int32Array.from(columns) };
}

export interface Explanation<R> {
  readonly trees: readonly Tree<R>[];
  readonly outputCount: number;
  readonly columnCount: number;
  /** The first tree and the end of the range of trees. */
  readonly range: { readonly first: number; readonly end: number };
  playersOf(tree: number): TreePlayers;
  /** The factor of a tree's leaves; default: 1. */
  scaleOf?(tree: number): number;
  goesLeft(tree: number, node: number, row: number): boolean;
}

/**
 * @param base the initial margin per output, which is added to the bias
 * @returns per row, per output: the columns' values, then the bias
 */
export async function contributionsOf<R>(
  explanation: Explanation<R>,
  rowCount: number,
  base: (row: number, output: number) => number,
): Promise<Float64Array> {
  const { trees, outputCount, columnCount, range, scaleOf = () => 1 } = explanation;
  const width = columnCount + 1;
  const values = new Float64Array(rowCount * outputCount * width);
  for (let row = 0; row < rowCount; row++)
    for (let k = 0; k < outputCount; k++) values[(row * outputCount + k) * width + columnCount] = base(row, k);
  const table: ContributionTable = { values, rowCount, outputCount, columnCount };
  for (let tree = range.first; tree < range.end; tree++) {
    const nodes = trees[tree];
    const { players, columns } = explanation.playersOf(tree);
    assert(players.length === nodes.length, "every node has its player");
    const outputs = outputsOf(nodes, tree, outputCount, scaleOf(tree));
    await addTreeContributions(
      { tree: nodes, players, columns, outputs },
      (node, row) => explanation.goesLeft(tree, node, row),
      table,
    );
  }
  return values;
}

/**
 * With all columns and rules in one place: SHAP values per feature of each party, one party after the other, then the
 * bias. Parameters as those of predictMargins.
 * @param baseMargins initial margins per instance, all outputs of an instance adjacent, if they are not the model's
 */
export function predictContributions(
  model: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
  names: readonly (readonly CategoryNames[])[] = [],
  baseMargins: Float64Array | null = null,
): Promise<Float64Array> {
  const { trees, outputCount = 1, baseMargin } = withWeightsInLeaves(model);
  const firsts = parties.map((_, owner) => parties.slice(0, owner).flat().length);
  const columnOf = ({ owner, feature }: SplitRule): number => firsts[owner] + feature;
  const tests = trees.map((tree) =>
    tree.map((node) => {
      if (node.kind === "leaf") return () => true;
      const { owner, feature } = node.rule;
      const [test, column] = [columnTest(node.rule, names[owner]?.[feature] ?? null), parties[owner][feature]];
      return (row: number) => test(column[row]);
    }),
  );
  return contributionsOf(
    {
      trees,
      outputCount,
      columnCount: parties.flat().length,
      range: { first: 0, end: trees.length },
      playersOf: (tree) => playersBy(trees[tree], columnOf, columnOf),
      goesLeft: (tree, node, row) => tests[tree][node](row),
    },
    rowCount,
    (row, output) => baseMargins?.[row * outputCount + output] ?? baseMargin,
  );
}

/** As gbdt/tree/tree.ts adds leaves: a tree of one output adds to that output, others have a weight for each. */
function outputsOf<R>(tree: Tree<R>, index: number, outputCount: number, scale: number) {
  const isVector = tree.some((node) => node.kind === "leaf" && node.weights !== undefined);
  if (!isVector) return [{ output: index % outputCount, weightOf: (leaf: LeafNode) => scale * leaf.weight }];
  return Array.from({ length: outputCount }, (_, output) => ({
    output,
    weightOf: (leaf: LeafNode) => scale * (leaf.weights?.[output] ?? leaf.weight),
  }));
}
