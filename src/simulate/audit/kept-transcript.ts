/** The transcript that a job has left in its folder, as the attacks take it. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { rootId } from "../../gbdt/tree/grow.ts";
import type { OwnSplit } from "../../privacy/attack/recorder.ts";
import type { SeenNode } from "../../privacy/attack/transcript.ts";
import type { KeptColumn, TranscriptLine } from "../../record/transcript-lines.ts";
import { isSet, partition } from "../../wire/bitmap.ts";

/** Who is in a node, who of them is summed, and who went left where the party won it. */
export type KeptNode = Pick<SeenNode, "id" | "parent" | "instances" | "summed"> & {
  readonly depth: number;
  readonly left: Uint32Array | null;
};

export interface KeptTree {
  readonly tree: number;
  readonly nodes: readonly KeptNode[];
}

export type KeptJob = Extract<TranscriptLine, { kind: "job" }>;

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "base64"));
}

/** The last line of a kind: what was said again counts. */
export function lastOf<K extends TranscriptLine["kind"]>(
  lines: readonly TranscriptLine[],
  kind: K,
): Extract<TranscriptLine, { kind: K }> | undefined {
  return lines.findLast((line): line is Extract<TranscriptLine, { kind: K }> => line.kind === kind);
}

/** The party's own splits of the model. */
export function keptSplits(lines: readonly TranscriptLine[]): OwnSplit[] {
  return lines.flatMap((line): OwnSplit[] =>
    line.kind === "split"
      ? [{ tree: line.tree, node: line.node, feature: line.feature, left: bytesOf(line.left) }]
      : [],
  );
}

/** Of a peer, in the order of their numbers. */
export function keptTrees(lines: readonly TranscriptLine[], peer: string, people: number): KeptTree[] {
  const everybody = Uint32Array.from({ length: people }, (_, i) => i);
  const trees = new Map<number, GrownAgain>();
  let sampled = everybody;
  for (const line of lines) {
    if (line.kind !== "tree" && line.kind !== "node" && line.kind !== "outcome") continue;
    if (line.peer !== peer) continue;
    if (line.kind === "tree") {
      const bitmap = bytesOf(line.sampled);
      sampled = bitmap.length === 0 ? everybody : everybody.filter((i) => isSet(bitmap, i));
      // Grown again: what came of it before does not count, nor what came after it.
      for (const tree of trees.keys()) if (tree >= line.tree) trees.delete(tree);
    }
    const tree = trees.get(line.tree) ?? new GrownAgain(everybody, sampled);
    trees.set(line.tree, tree);
    if (line.kind === "node") tree.place(line);
    if (line.kind === "outcome") tree.split(line.node, bytesOf(line.left));
  }
  return [...trees].map(([tree, grown]) => ({ tree, nodes: grown.nodes })).sort((a, b) => a.tree - b.tree);
}

/** Of a peer, per tree how many nodes were asked for; of a tree that was grown again the last time counts. */
export function askedNodes(
  lines: readonly TranscriptLine[],
  peer: string,
): { readonly tree: number; readonly nodes: number }[] {
  const trees = new Map<number, number>();
  for (const line of lines) {
    if ((line.kind !== "tree" && line.kind !== "asked") || line.peer !== peer) continue;
    // A tree begins with its root; transcripts of 0.6 say so in a line of its own before.
    if (line.kind === "tree" || line.node === rootId)
      for (const tree of trees.keys()) if (tree >= line.tree) trees.delete(tree);
    trees.set(line.tree, (trees.get(line.tree) ?? 0) + (line.kind === "asked" ? 1 : 0));
  }
  return [...trees].map(([tree, nodes]) => ({ tree, nodes })).sort((a, b) => a.tree - b.tree);
}

class GrownAgain {
  readonly #isSummed: ReadonlySet<number> | null;
  readonly #nodes = new Map<number, KeptNode>();

  constructor(everybody: Uint32Array, sampled: Uint32Array) {
    this.#isSummed = sampled === everybody ? null : new Set(sampled);
    this.#add({ id: 0, parent: -1, depth: 0 }, everybody);
  }

  get nodes(): KeptNode[] {
    return [...this.#nodes.values()].sort((a, b) => a.id - b.id);
  }

  place(line: Extract<TranscriptLine, { kind: "node" }>): void {
    const { node: id, parent, sibling, members } = line;
    const above = this.#nodes.get(parent);
    if (id === 0 || above === undefined) return;
    const { inside, outside } = partition(above.instances, bytesOf(members));
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

/** Thresholds and names are not kept: the attacks look at bins. */
export function keptFeature({ name, binCount, hasMissing, oneHot, monotone, bins }: KeptColumn): BinnedFeature {
  const bytes = bytesOf(bins);
  const binned = new Uint16Array(bytes.buffer, 0, Math.floor(bytes.length / 2));
  const common = { name, binCount, hasMissing, bins: binned, lowest: 0 };
  if (oneHot === null)
    return { ...common, monotone, thresholds: Float32Array.from({ length: binCount }, (_, i) => i + 1) };
  const categories = Array.from({ length: binCount }, (_, i) => String(i));
  return { ...common, thresholds: new Float32Array(0), categories, oneHot };
}
