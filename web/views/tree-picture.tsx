/**
 * One tree: own splits with their rule, others' as closed boxes with their owner's name, leaves with their weight. A
 * wide screen shows a picture, a narrow one an outline, which is also the picture as text.
 */
import { useContext, useEffect, useRef } from "preact/hooks";
import type { JobView } from "../../src/record/job-view.ts";
import type { TreeNodeView, TreeView } from "../../src/record/own-view.ts";
import { Behind, Nothing } from "./card.tsx";
import { Medium } from "./medium.ts";
import { partyColour } from "./party-colour.ts";
import {
  condition,
  missingWords,
  nodeLines,
  type PlacedNode,
  placeTree,
  signedWeight,
  splitWords,
  treeBox,
} from "./tree-layout.ts";

const box = treeBox;
/** On the page a wide tree shrinks as far as its text can be read; then it scrolls. */
const scaleMin = 0.8;
/** In a report, which cannot scroll to the root by itself, it shrinks further. */
const reportWidthMin = 720;

type WholeTree = Extract<TreeView, { kind: "whole" }>;

interface TreeProps<T extends TreeView = TreeView> {
  readonly view: JobView;
  readonly tree: T;
}

export function TreePicture({ view, tree }: TreeProps) {
  if (tree.kind === "own-splits") return <OwnSplits view={view} tree={tree} />;
  return (
    <>
      <Picture view={view} tree={tree} />
      <div class="tree-text">
        <Behind summary="As text" table={() => <Outline view={view} tree={tree} id={0} />} />
      </div>
      <div class="tree-outline">
        <Outline view={view} tree={tree} id={0} />
      </div>
    </>
  );
}

/** A node and below it its children, indented. */
function Outline({ view, tree, id, branch }: TreeProps<WholeTree> & { readonly id: number; readonly branch?: string }) {
  const node = tree.nodes[id];
  const item = (
    <li>
      <span
        class="outline-node"
        style={{ borderColor: node.kind === "leaf" ? "var(--line)" : partyColour(view, node.owner) }}
      >
        {branch !== undefined && <b>{branch}: </b>}
        {node.kind === "leaf"
          ? `leaf ${signedWeight(node.weight)}; ${node.count.toLocaleString("en")} people`
          : splitWords(node)}
      </span>
      {node.kind === "split" && (
        <ul>
          <Outline view={view} tree={tree} id={node.left} branch="yes" />
          <Outline view={view} tree={tree} id={node.right} branch="no" />
        </ul>
      )}
    </li>
  );
  return branch === undefined ? <ul class="outline">{item}</ul> : item;
}

function classOf(node: TreeNodeView): string {
  return node.kind === "leaf" ? "leaf" : node.rule === null ? "node closed" : "node";
}

function Picture({ view, tree }: TreeProps<WholeTree>) {
  const { nodes: placed, width, height } = placeTree(tree.nodes);
  const at = new Map(placed.map((node) => [node.id, node]));
  const isReport = useContext(Medium) === "report";
  const least = Math.round(width * scaleMin);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Where the tree is wider than the screen, it is scrolled to the root.
    if (frame.current !== null) frame.current.scrollLeft = (frame.current.scrollWidth - frame.current.clientWidth) / 2;
  }, [tree.tree, width]);
  return (
    <div class="scroll tree-frame" ref={frame} role="region" aria-label={`Tree ${tree.tree + 1}`} tabIndex={0}>
      <svg
        class="tree"
        style={{ maxWidth: `${width}px`, minWidth: `${isReport ? Math.min(least, reportWidthMin) : least}px` }}
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

interface BranchProps {
  readonly from: { readonly x: number; readonly y: number };
  readonly to: PlacedNode | undefined;
  readonly left: boolean;
}

function Branch({ from, to, left }: BranchProps) {
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
  const isLeaf = node.kind === "leaf";
  const width = isLeaf ? box.leafWidth : box.width;
  const [left, middle] = [x - width / 2, isLeaf ? x : x + 3]; // beside the stripe
  return (
    <g class={classOf(node)} style={isLeaf ? {} : { color: partyColour(view, node.owner) }}>
      <rect x={left} y={y} width={width} height={box.height} rx={isLeaf ? 20 : 8} class="node-box" />
      {!isLeaf && <rect x={left} y={y} width={6} height={box.height} rx={3} class="party-stripe" />}
      {!isLeaf && node.rule === null && <Lock x={left + 16} y={y + 8} />}
      <text x={middle} y={y + 20} text-anchor="middle" class="node-text">
        {first}
      </text>
      <text x={middle} y={y + 38} text-anchor="middle" class="node-soft">
        {second}
      </text>
      {!isLeaf && <title>{splitWords(node)}</title>}
    </g>
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

/** A passive party does not know the tree's shape, only the nodes that it was asked about. */
function OwnSplits({ view, tree }: TreeProps<Extract<TreeView, { kind: "own-splits" }>>) {
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
