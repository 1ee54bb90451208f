/** Where the nodes of a tree are in a picture: leaves side by side, parents in the middle above their children. */
import { formatFloat32 } from "../../src/base/text/format.ts";
import type { RuleView, TreeNodeView } from "../../src/record/own-view.ts";

export const treeBox = { width: 152, leafWidth: 80, height: 48, gapX: 8, gapY: 40, margin: 4 };

export interface PlacedNode {
  readonly id: number;
  readonly node: TreeNodeView;
  /** The middle of the box. */
  readonly x: number;
  /** The top of the box. */
  readonly y: number;
}

export interface PlacedTree {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
}

export function placeTree(nodes: readonly TreeNodeView[]): PlacedTree {
  const { width, leafWidth, height, gapX, gapY, margin } = treeBox;
  const side = Math.max(0, (width - leafWidth) / 2) + margin; // a root alone is wider than its leaf
  const placed: PlacedNode[] = [];
  let leaves = 0;
  const visit = (id: number, depth: number): number => {
    const node = nodes[id];
    const x =
      node.kind === "leaf"
        ? leafWidth / 2 + side + leaves++ * (leafWidth + gapX)
        : (visit(node.left, depth + 1) + visit(node.right, depth + 1)) / 2;
    placed.push({ id, node, x, y: margin + depth * (height + gapY) });
    return x;
  };
  visit(0, 0);
  return {
    width: leaves * (leafWidth + gapX) - gapX + 2 * side,
    height: Math.max(...placed.map(({ y }) => y)) + height + margin,
    nodes: placed.sort((a, b) => a.id - b.id),
  };
}

/** The two lines in a node's box. */
export function nodeLines(node: TreeNodeView): readonly [string, string] {
  const count = node.count.toLocaleString("en");
  if (node.kind === "leaf") return [signedWeight(node.weight), count];
  if (node.rule === null) return [shortened(node.owner, 14), `${count} people`];
  return [shortened(node.rule.featureName, 17), `${shortened(condition(node.rule), 20 - count.length)} · ${count}`];
}

/** What sends a value to the left, after the feature's name. */
export function condition({ threshold, categories }: RuleView): string {
  return categories === undefined ? `< ${formatFloat32(threshold)}` : `not in {${categories.join(", ")}}`;
}

/** Where people without a value go. */
export function missingWords({ defaultLeft }: RuleView): string {
  return `missing goes ${defaultLeft ? "left" : "right"}`;
}

/** A split in words. */
export function splitWords(node: Extract<TreeNodeView, { kind: "split" }>): string {
  const rule =
    node.rule === null
      ? `a split of ${node.owner}`
      : `${node.rule.featureName} ${condition(node.rule)}, ${missingWords(node.rule)}`;
  return `${rule}; gain ${node.gain.toPrecision(4)}; ${node.count.toLocaleString("en")} people`;
}

export function signedWeight(weight: number): string {
  return `${weight > 0 ? "+" : ""}${weight.toFixed(4)}`;
}

export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
