/** One tree: own splits with their rule, others' as closed boxes with their owner's name, leaves with their weight. */
import { useEffect, useRef } from "preact/hooks";
import type { TreeView } from "../../src/record/own-view.ts";
import type { JobView } from "../../src/record/job-view.ts";
import {
  condition,
  missingWords,
  nodeLines,
  type PlacedNode,
  placeTree,
  signedWeight,
  splitWords,
  treeBox,
} from "../../src/report/tree-layout.ts";
import { Nothing } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

const box = treeBox;
/** A wide tree shrinks as far as its text can be read; then it scrolls. */
const scaleMin = 0.8;

export function TreePicture({ view, tree }: { readonly view: JobView; readonly tree: TreeView }) {
  return tree.kind === "own-splits" ? <OwnSplits view={view} tree={tree} /> : <WholeTree view={view} tree={tree} />;
}

function WholeTree({ view, tree }: { readonly view: JobView; readonly tree: Extract<TreeView, { kind: "whole" }> }) {
  const { nodes: placed, width, height } = placeTree(tree.nodes);
  const at = new Map(placed.map((node) => [node.id, node]));
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Where the tree is wider than the screen, the root is what to see first.
    if (frame.current !== null) frame.current.scrollLeft = (frame.current.scrollWidth - frame.current.clientWidth) / 2;
  }, [tree.tree, width]);
  return (
    <div class="scroll" ref={frame} role="region" aria-label={`Tree ${tree.tree + 1}`} tabIndex={0}>
      <svg
        class="tree"
        style={{ maxWidth: `${width}px`, minWidth: `${Math.round(width * scaleMin)}px` }}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Tree ${tree.tree + 1}, ${tree.nodes.length} nodes; the same as text below`}
      >
        {placed.flatMap(({ node, id, x, y }) =>
          node.kind === "split"
            ? [node.left, node.right].map((child, side) => (
                <Branch key={`${id}-${child}`} from={{ x, y: y + box.height }} to={at.get(child)} left={side === 0} />
              ))
            : [],
        )}
        {placed.map((node) => (
          <NodeBox key={node.id} view={view} at={node} />
        ))}
      </svg>
    </div>
  );
}

function Branch({
  from,
  to,
  left,
}: {
  readonly from: { readonly x: number; readonly y: number };
  readonly to: PlacedNode | undefined;
  readonly left: boolean;
}) {
  if (to === undefined) return null;
  const middle = (from.y + to.y) / 2;
  return (
    <g class="branch">
      <path d={`M${from.x} ${from.y} C${from.x} ${middle}, ${to.x} ${middle}, ${to.x} ${to.y}`} />
      <text x={(from.x + to.x) / 2 + (left ? -8 : 8)} y={middle - 2} text-anchor={left ? "end" : "start"}>
        {left ? "yes" : "no"}
      </text>
    </g>
  );
}

function NodeBox({ view, at }: { readonly view: JobView; readonly at: PlacedNode }) {
  const { node, x, y } = at;
  const [first, second] = nodeLines(node);
  if (node.kind === "leaf") {
    return (
      <g class="leaf">
        <rect x={x - box.leafWidth / 2} y={y} width={box.leafWidth} height={box.height} rx={20} class="node-box" />
        <Text x={x} y={y} first={first} second={second} />
      </g>
    );
  }
  const left = x - box.width / 2;
  return (
    <g class={node.rule === null ? "node closed" : "node"} style={{ color: partyColour(view, node.owner) }}>
      <rect x={left} y={y} width={box.width} height={box.height} rx={8} class="node-box" />
      <rect x={left} y={y} width={6} height={box.height} rx={3} class="party-stripe" />
      {node.rule === null ? <Lock x={left + 16} y={y + 8} /> : null}
      <Text x={x + 3} y={y} first={first} second={second} />
      <title>{splitWords(node)}</title>
    </g>
  );
}

function Text({
  x,
  y,
  first,
  second,
}: {
  readonly x: number;
  readonly y: number;
  readonly first: string;
  readonly second: string;
}) {
  return (
    <>
      <text x={x} y={y + 20} text-anchor="middle" class="node-text">
        {first}
      </text>
      <text x={x} y={y + 38} text-anchor="middle" class="node-soft">
        {second}
      </text>
    </>
  );
}

function Lock({ x, y }: { readonly x: number; readonly y: number }) {
  return (
    <g class="lock" transform={`translate(${x} ${y})`}>
      <rect x={0} y={6} width={11} height={8} rx={1.5} />
      <path d="M2.5 6 V4 a3 3 0 0 1 6 0 V6" />
    </g>
  );
}

/** A passive party does not know the tree's shape, only where it was asked. */
function OwnSplits({
  view,
  tree,
}: {
  readonly view: JobView;
  readonly tree: Extract<TreeView, { kind: "own-splits" }>;
}) {
  if (tree.splits.length === 0) return <Nothing>No split of this tree is ours.</Nothing>;
  return (
    <ul class="own-splits" style={{ color: partyColour(view, view.party) }}>
      {tree.splits.map((split) => (
        <li key={split.node}>
          <span class="own-node">node {split.node}</span>
          <span class="own-rule">
            {split.featureName} {condition(split)}
          </span>
          <span class="own-missing">{missingWords(split)}</span>
        </li>
      ))}
    </ul>
  );
}

export function treeText(tree: TreeView): string {
  if (tree.kind === "own-splits")
    return tree.splits
      .map((split) => `node ${split.node}: ${split.featureName} ${condition(split)}, ${missingWords(split)}`)
      .join("\n");
  const lines: string[] = [];
  const visit = (id: number, depth: number, how: string): void => {
    const node = tree.nodes[id];
    const words =
      node.kind === "leaf"
        ? `leaf ${signedWeight(node.weight)}; ${node.count.toLocaleString("en")} people`
        : splitWords(node);
    lines.push(`${"  ".repeat(depth)}${how}${words}`);
    if (node.kind === "leaf") return;
    visit(node.left, depth + 1, "yes: ");
    visit(node.right, depth + 1, "no: ");
  };
  visit(0, 0, "");
  return lines.join("\n");
}
