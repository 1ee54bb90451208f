/** One party's shares of the sums of a node's candidates, in tie order (candidates/node-masks.ts). */
import { siblingShares } from "../candidates/node-masks.ts";

export interface NodeShares {
  readonly candidates: number;
  /** Of G. */
  readonly gradients: Uint32Array;
  /** Of H. */
  readonly hessians: Uint32Array;
}

/** Of a node whose sibling's sums were requested. @returns null if the nodes have other candidates */
export function derivedShares(parent: NodeShares, sibling: NodeShares): NodeShares | null {
  if (parent.candidates !== sibling.candidates) return null;
  return {
    candidates: parent.candidates,
    gradients: siblingShares(parent.gradients, sibling.gradients),
    hessians: siblingShares(parent.hessians, sibling.hessians),
  };
}

/** Those of several nodes, one after the other. */
export function joinedShares(nodes: readonly NodeShares[]): Pick<NodeShares, "gradients" | "hessians"> {
  const joined = (pick: (node: NodeShares) => Uint32Array): Uint32Array => {
    const words = new Uint32Array(nodes.reduce((sum, node) => sum + pick(node).length, 0));
    let at = 0;
    for (const node of nodes) {
      words.set(pick(node), at);
      at += pick(node).length;
    }
    return words;
  };
  return { gradients: joined(({ gradients }) => gradients), hessians: joined(({ hessians }) => hessians) };
}
