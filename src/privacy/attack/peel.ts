/**
 * A2: solves exact sums for their members, with the native kernel where it is built and in TypeScript elsewhere. All
 * conclusions are proofs: an instance is out if no subset with it has the sum, and in if no subset without it has. What
 * is found by the deadline is true, even if more time would find more.
 */
import { createRequire } from "node:module";
import { packagePath } from "../../base/package-root.ts";
import type { LinkedRows } from "./linked-rows.ts";
import type { PeelTask } from "./parts.ts";
import { peelPortably } from "./peel-portable.ts";

/** Input that all features of a job share. */
export interface PeelGround {
  /** Per tree the keys of all instances, one tree after the other. */
  readonly keys: Float64Array;
  readonly nodeTrees: Uint32Array;
  readonly memberOffsets: Uint32Array;
  readonly members: Uint32Array;
  /** Per tree about how many bits of a sum distinguish subsets of instances. */
  readonly treeBits: Float64Array;
}

/** "contradiction": the equations of the feature have no solution; nothing is concluded. */
export type PeelEnd = "done" | "time over" | "contradiction";

export interface PeelAddon {
  peel(
    keys: Float64Array,
    nodeTrees: Uint32Array,
    memberOffsets: Uint32Array,
    members: Uint32Array,
    treeBits: Float64Array,
    equations: Uint32Array,
    sums: Float64Array,
    words: number,
    possible: Uint32Array,
    milliseconds: number,
  ): Promise<number>;
}

export function peelGround({ keys, nodes, instanceCount }: LinkedRows): PeelGround {
  const all = new Float64Array(keys.length * instanceCount);
  keys.forEach((ofTree, tree) => all.set(ofTree, tree * instanceCount));
  const memberOffsets = new Uint32Array(nodes.length + 1);
  nodes.forEach(({ summed }, node) => (memberOffsets[node + 1] = memberOffsets[node] + summed.length));
  const members = new Uint32Array(memberOffsets[nodes.length]);
  nodes.forEach(({ summed }, node) => members.set(summed, memberOffsets[node]));
  return {
    keys: all,
    nodeTrees: Uint32Array.from(nodes, ({ tree }) => tree),
    memberOffsets,
    members,
    treeBits: Float64Array.from(keys, distinguishingBits),
  };
}

/** 0 where most instances share their key with others: larger subsets are then not worth a search. */
function distinguishingBits(keys: Float64Array): number {
  const distinct = new Set(keys).size;
  return distinct * 2 < keys.length ? 0 : 46;
}

/** Narrows task.possible in place. */
export async function peel(ground: PeelGround, task: PeelTask, milliseconds: number): Promise<PeelEnd> {
  const addon = nativePeel();
  if (addon === null) return peelPortably(ground, task, milliseconds);
  const { keys, nodeTrees, memberOffsets, members, treeBits } = ground;
  const { equations, sums, words, possible } = task;
  const budget = Math.max(0, Math.floor(milliseconds));
  return peelEnd(
    await addon.peel(keys, nodeTrees, memberOffsets, members, treeBits, equations, sums, words, possible, budget),
  );
}

export function peelEnd(code: number): PeelEnd {
  return code === -1 ? "done" : code === -2 ? "time over" : "contradiction";
}

let loaded: PeelAddon | null | undefined;

/** Null where the addon is not built. */
export function nativePeel(): PeelAddon | null {
  if (loaded === undefined) {
    try {
      loaded = createRequire(import.meta.url)(packagePath("build", "tandem.node")) as PeelAddon;
    } catch {
      loaded = null;
    }
  }
  return loaded;
}
