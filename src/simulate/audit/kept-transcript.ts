/** Reads the transcript in a job's folder into the input of the attacks. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { rootId } from "../../gbdt/tree/grow.ts";
import type { OwnSplit } from "../../privacy/attack/recorder.ts";
import type { SeenNode } from "../../privacy/attack/transcript.ts";
import type { KeptColumn, TranscriptLine } from "../../record/transcript-lines.ts";
import { isSet, partition } from "../../wire/bitmap.ts";
import { bytesFrom } from "../../store/stored-numbers.ts";

/** The members of a node, those of them that are summed, and those that went left where the party won the split. */
export type KeptNode = Pick<SeenNode, "id" | "parent" | "instances" | "summed"> & {
  readonly depth: number;
  readonly left: Uint32Array | null;
};

export interface KeptTree {
  readonly tree: number;
  readonly nodes: readonly KeptNode[];
}

export type KeptJob = Extract<TranscriptLine, { kind: "job" }>;

/** The last line of a kind: later lines replace earlier ones. */
export function lastLine<K extends TranscriptLine["kind"]>(
  lines: readonly TranscriptLine[],
  kind: K,
): Extract<TranscriptLine, { kind: K }> | undefined {
  return lines.findLast((line): line is Extract<TranscriptLine, { kind: K }> => line.kind === kind);
}

/** The model's splits that belong to this party. */
export function keptSplits(lines: readonly TranscriptLine[]): OwnSplit[] {
  return lines.flatMap((line): OwnSplit[] =>
    line.kind === "split"
      ? [{ tree: line.tree, node: line.node, feature: line.feature, left: bytesFrom(line.left) }]
      : [],
  );
}

/** A peer's trees in ascending order. */
export function keptTrees(lines: readonly TranscriptLine[], peer: string, rowCount: number): KeptTree[] {
  const allRows = Uint32Array.from({ length: rowCount }, (_, i) => i);
  const trees = new Map<number, TreeReplay>();
  let sampled = allRows;
  for (const line of lines) {
    if (line.kind !== "tree" && line.kind !== "node" && line.kind !== "outcome") continue;
    if (line.peer !== peer) continue;
    if (line.kind === "tree") {
      const bitmap = bytesFrom(line.sampled);
      sampled = bitmap.length === 0 ? allRows : allRows.filter((i) => isSet(bitmap, i));
      // The tree is grown again: discard its earlier lines, and those of later trees.
      for (const tree of trees.keys()) if (tree >= line.tree) trees.delete(tree);
    }
    const tree = trees.get(line.tree) ?? new TreeReplay(allRows, sampled);
    trees.set(line.tree, tree);
    if (line.kind === "node") tree.place(line);
    if (line.kind === "outcome") tree.split(line.node, bytesFrom(line.left));
  }
  return [...trees].map(([tree, grown]) => ({ tree, nodes: grown.nodes })).sort((a, b) => a.tree - b.tree);
}

/** Nodes that a peer requested per tree; of a tree that was grown again, the last time counts. */
export function askedNodes(
  lines: readonly TranscriptLine[],
  peer: string,
): { readonly tree: number; readonly nodes: number }[] {
  const trees = new Map<number, number>();
  for (const line of lines) {
    if ((line.kind !== "tree" && line.kind !== "asked") || line.peer !== peer) continue;
    // A tree begins with its root; transcripts of 0.6 have a separate line for that before it.
    if (line.kind === "tree" || line.node === rootId)
      for (const tree of trees.keys()) if (tree >= line.tree) trees.delete(tree);
    trees.set(line.tree, (trees.get(line.tree) ?? 0) + (line.kind === "asked" ? 1 : 0));
  }
  return [...trees].map(([tree, nodes]) => ({ tree, nodes })).sort((a, b) => a.tree - b.tree);
}

class TreeReplay {
  readonly #isSummed: ReadonlySet<number> | null;
  readonly #nodes = new Map<number, KeptNode>();

  constructor(allRows: Uint32Array, sampled: Uint32Array) {
    this.#isSummed = sampled === allRows ? null : new Set(sampled);
    this.#add({ id: 0, parent: -1, depth: 0 }, allRows);
  }

  get nodes(): KeptNode[] {
    return [...this.#nodes.values()].sort((a, b) => a.id - b.id);
  }

  place(line: Extract<TranscriptLine, { kind: "node" }>): void {
    const { node: id, parent, sibling, members } = line;
    const above = this.#nodes.get(parent);
    if (id === 0 || above === undefined) return;
    const { inside, outside } = partition(above.instances, bytesFrom(members));
    const place = { parent, depth: above.depth + 1 };
    this.#add({ id, ...place }, inside);
    this.#add({ id: sibling, ...place }, outside);
  }

  split(id: number, bitmap: Uint8Array): void {
    const node = this.#nodes.get(id);
    if (node !== undefined) this.#nodes.set(id, { ...node, left: partition(node.instances, bitmap).inside });
  }

  #add(place: Pick<KeptNode, "id" | "parent" | "depth">, instances: Uint32Array): void {
    if (this.#nodes.has(place.id)) return;
    const isSummed = this.#isSummed;
    const summed = isSummed === null ? instances : instances.filter((i) => isSummed.has(i));
    this.#nodes.set(place.id, { ...place, instances, summed, left: null });
  }
}

/** Thresholds and category names are not in the transcript: the attacks use bins. */
export function keptFeature(column: KeptColumn): BinnedFeature {
  const { name, binCount, hasMissing, missingLeftLast = false, oneHot, monotone, bins } = column;
  const bytes = bytesFrom(bins);
  const binned = new Uint16Array(bytes.buffer, 0, Math.floor(bytes.length / 2));
  const common = { name, binCount, hasMissing, missingLeftLast, bins: binned, lowest: 0 };
  if (oneHot === null)
    return { ...common, monotone, thresholds: Float32Array.from({ length: binCount }, (_, i) => i + 1) };
  const categories = Array.from({ length: binCount }, (_, i) => String(i));
  return { ...common, thresholds: new Float32Array(0), categories, oneHot };
}
