/**
 * The transcript of a real job, from the messages that the active party received from one passive party, its own
 * gradients and the shape of its trees.
 */
import { assert } from "../../src/base/assert.ts";
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import { subtractRows } from "../../src/gbdt/split/histogram.ts";
import type { Observation } from "../../src/messages/observation.ts";
import { isSet, partition } from "../../src/wire/bitmap.ts";
import type { SeenJob, SeenNode, SeenTree, Transcript, WonSplit } from "../../src/privacy/attack/transcript.ts";

/** A tree as the active party has it. */
export interface OwnTree {
  readonly tree: number;
  readonly gradients: QuantisedGradients;
  /** The instances that it is trained on; null: all. */
  readonly sample: Uint32Array | null;
  /** Per node id its children; null for a leaf. */
  readonly children: readonly ({ readonly left: number; readonly right: number } | null)[];
  /** Members per node id, known to the active party, where members are hidden; left out: they are sent. */
  readonly members?: readonly Uint32Array[];
}

type Of<K extends Observation["kind"]> = Extract<Observation, { kind: K }>;

/** @param trees those that the passive party took part in, in order */
export function transcriptFrom(
  observations: readonly Observation[],
  instanceCount: number,
  trees: readonly OwnTree[],
  job: SeenJob,
): Transcript {
  const seen: SeenTree[] = [];
  for (const own of trees) {
    const ofTree = observations.filter((each) => "tree" in each && each.tree === own.tree);
    seen.push(treeFrom(ofTree, instanceCount, own, seen.at(-1)));
  }
  const predictions = observations.flatMap((each) =>
    each.kind === "prediction"
      ? [{ tree: each.tree, node: each.node, left: bits(each.leftMembers, each.rowCount) }]
      : [],
  );
  return { instanceCount, job, trees: seen, predictions };
}

/** @param before the tree before: trees of one gradient round share the sums of their root, requested once */
function treeFrom(
  observations: readonly Observation[],
  instanceCount: number,
  own: OwnTree,
  before: SeenTree | undefined,
): SeenTree {
  const of = <K extends Observation["kind"]>(kind: K): Of<K>[] =>
    observations.filter((each): each is Of<K> => each.kind === kind);
  const isSampled = own.sample && new Uint8Array(instanceCount);
  for (const instance of own.sample ?? []) if (isSampled !== null) isSampled[instance] = 1;
  const summedOf = (instances: Uint32Array): Uint32Array =>
    isSampled === null ? instances : instances.filter((instance) => isSampled[instance] === 1);
  const all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  const sentMembers = new Map(of("members").map((each) => [each.node, each.members]));
  const isAsked = (node: number): boolean =>
    sentMembers.has(node) || (own.members !== undefined && hasSums(of("sums"), node));
  const sidesOf = ({ leftMembers }: Of<"outcome">, instances: Uint32Array): Pick<WonSplit, "left" | "leftOfAll"> => {
    if (own.members === undefined) return { left: partition(instances, leftMembers).inside, leftOfAll: null };
    const leftOfAll = all.filter((instance) => isSet(leftMembers, instance));
    return { left: instances.filter((instance) => isSet(leftMembers, instance)), leftOfAll };
  };
  const wonAt = (node: number, instances: Uint32Array): WonSplit | null => {
    const outcome = of("outcome").find((each) => each.node === node);
    const named = of("win").find((each) => each.node === node);
    if (outcome === undefined || named === undefined) return null;
    return {
      candidates: named.candidates,
      sets: named.sets.map(({ group, categories, missingLeft }) => ({ group, categories, missingLeft })),
      ...sidesOf(outcome, instances),
    };
  };
  const nodes: SeenNode[] = [];
  const place = (id: number, parent: number, instances: Uint32Array, rows: NodeRows | null): void => {
    if (rows === null) return;
    const node = { id, parent, instances, summed: summedOf(instances), ...rows, won: wonAt(id, instances) };
    nodes.push(node);
    const children = own.children[id];
    if (!children) return;
    const { left, right } = children;
    const smaller = isAsked(left) ? left : right;
    if (!isAsked(smaller)) return; // not requested: not split again
    const larger = smaller === left ? right : left;
    const { inside, outside } =
      own.members === undefined
        ? partition(instances, sentMembers.get(smaller) ?? new Uint8Array(0))
        : { inside: own.members[smaller], outside: own.members[larger] };
    const child = rowsAt(of("sums"), smaller);
    assert(child !== null, "every requested node was answered");
    const sibling = rowsAt(of("sums"), larger) ?? lessRows(rows, child);
    place(smaller, id, inside, child);
    place(larger, id, outside, sibling);
  };
  const shared = before?.gradients === own.gradients ? before.nodes[0] : undefined;
  const root =
    rowsAt(of("sums"), 0) ?? (shared && { rows: shared.rows, suppressed: shared.suppressed, groups: shared.groups });
  place(0, -1, all, root ?? null);
  nodes.sort((a, b) => a.id - b.id);
  return { tree: own.tree, gradients: own.gradients, nodes };
}

type NodeRows = Pick<SeenNode, "rows" | "suppressed" | "groups">;

function hasSums(sums: readonly Of<"sums">[], node: number): boolean {
  return sums.some((each) => each.node === node);
}

/** A node's answer, joined from its pieces. */
function rowsAt(sums: readonly Of<"sums">[], node: number): NodeRows | null {
  const pieces = sums.filter((each) => each.node === node).sort((a, b) => a.firstCandidate - b.firstCandidate);
  if (pieces.length === 0) return null;
  return {
    rows: joined(pieces.map(({ rows }) => rows ?? new Float64Array(0))),
    suppressed: Uint8Array.from(
      pieces.flatMap(({ suppressed, counts }) =>
        counts.map((_, i) => (suppressed.length > 0 && isSet(suppressed, i) ? 1 : 0)),
      ),
    ),
    groups: pieces[0].groups.map(({ size, hasMissing, flipped }) => ({ size, hasMissing, flipped: flipped - 1 })),
  };
}

/** Rows of the larger child: a candidate that is suppressed at one child is suppressed at both. */
function lessRows(parent: NodeRows, child: NodeRows): NodeRows {
  const rows = subtractRows(parent.rows, child.rows);
  const stride = rows.length / child.suppressed.length;
  child.suppressed.forEach((isSuppressed, i) => {
    if (isSuppressed === 1) rows.fill(0, i * stride, (i + 1) * stride);
  });
  return { ...child, rows };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function bits(bitmap: Uint8Array, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => (isSet(bitmap, i) ? 1 : 0));
}
