/**
 * A tree as the active party sees it: its own splits with their rules, another party's as a closed box with the owner's
 * name. For the terminal in box-drawing characters, or for Graphviz.
 */
import { type ActiveRule, isOwnRule } from "../../protocol/active/federated-tree.ts";
import type { Tree, TreeNode } from "../../gbdt/tree/tree.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { RuleView } from "../../record/own-view.ts";
import { xgboostText } from "../../store/xgboost/text.ts";
import { shortNumber } from "./model-summary.ts";

export interface Drawing {
  readonly tree: Tree<ActiveRule>;
  /** The active party's name, then the passive parties', as rule.owner counts. */
  readonly partyNames: readonly string[];
}

/** One line per node, a parent before its children, the left child (yes) above the right one (no). */
export function drawText(drawing: Drawing): string {
  const lines: { readonly label: string; readonly facts: string }[] = [];
  const draw = (id: number, stem: string, branch: string): void => {
    const node = drawing.tree[id];
    lines.push({
      label: `${stem}${branch}${node.kind === "split" ? "┬─" : "──"} ${id}: ${labelOf(drawing, node)}`,
      facts: factsOf(node).join(", "),
    });
    if (node.kind === "leaf") return;
    const childStem = stem + (branch === "├─" ? "│ " : branch === "└─" ? "  " : " ");
    draw(node.left, childStem, "├─");
    draw(node.right, childStem, "└─");
  };
  draw(0, "", "─");
  const width = Math.max(...lines.map(({ label }) => label.length));
  return lines.map(({ label, facts }) => `  ${label.padEnd(width)}   ${facts}`).join("\n");
}

/** A digraph for Graphviz's `dot`. */
export function drawDot(drawing: Drawing, treeIndex: number): string {
  const lines = drawing.tree.flatMap((node, id) => {
    const text = [labelOf(drawing, node), ...factsOf(node)].map(quotable).join("\\n");
    if (node.kind === "leaf") return [`  n${id} [label="${text}", shape=ellipse];`];
    const closed = isOwnRule(node.rule) ? "" : ', style=filled, fillcolor="#404040", fontcolor=white';
    return [
      `  n${id} [label="${text}"${closed}];`,
      `  n${id} -> n${node.left} [label=yes];`,
      `  n${id} -> n${node.right} [label=no];`,
    ];
  });
  return [`digraph tree_${treeIndex} {`, '  node [shape=box, fontname="sans-serif"];', ...lines, "}"].join("\n");
}

/** What is asked at a split. */
export function ruleText({ featureName, threshold, categories, defaultLeft }: RuleView): string {
  const asked =
    categories === undefined
      ? `< ${Number(xgboostText(threshold))}`
      : `not in {${categories.map(peerText).join(", ")}}`;
  return `${peerText(featureName)} ${asked} (missing: ${defaultLeft ? "yes" : "no"})`;
}

function labelOf({ partyNames }: Drawing, node: TreeNode<ActiveRule>): string {
  if (node.kind === "leaf") return `leaf ${shortNumber(node.weight)}`;
  return isOwnRule(node.rule) ? ruleText(node.rule) : `▣ ${peerText(partyNames[node.rule.owner])}`;
}

function factsOf(node: TreeNode<ActiveRule>): string[] {
  return [
    `${node.count.toLocaleString("en")} people`,
    ...(node.kind === "split" ? [`gain ${shortNumber(node.gain)}`] : []),
  ];
}

function quotable(text: string): string {
  return text.replaceAll(/["\\]/g, "\\$&");
}
