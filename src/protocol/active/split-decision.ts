/** What splits a node, as a passive party is told it, and what that party says of it. */
import type { Named } from "../../scheme/candidates/best-candidates.ts";
import { setMessage } from "../../scheme/candidates/category-group.ts";
import type { Interactions } from "../../gbdt/split/interactions.ts";

/** What a party says of a split that it won. */
export interface SplitAnswer {
  /** Bitmap over the node's instances. */
  readonly leftMembers: Uint8Array;
  /** The constraint of the feature that splits: 1, -1, or 0 for none. */
  readonly monotone: number;
  /** Interaction groups of that feature that are open at the node. */
  readonly groups: number;
}

/** What splits a node. */
export interface Decision {
  readonly node: number;
  /** Who is in it. */
  readonly instances: Uint32Array;
  readonly named: Named;
  /** Of those that tie with it where there is noise (scheme/candidates/same-sums.ts); otherwise 0. */
  readonly constraints: number;
  /** What may split the node. */
  readonly interactions: Interactions | null;
  /** Of a bitmap over the node's instances: whether the people on either side make the sums that were answered. */
  readonly addsUp: (leftMembers: Uint8Array) => boolean;
}

/**
 * Whether the groups that a party names for its split can be: of those that it has features in and that are open; some,
 * if any are.
 */
export function areGroupsPossible({ node, interactions }: Decision, named: number, ofParty: number): boolean {
  const open = interactions === null ? ofParty : interactions.open & ofParty;
  const isFree = node === 0 || open === 0;
  return (named & ~open) === 0 && (isFree || named !== 0);
}

export function namedMessage(named: Named) {
  return named.kind === "candidate"
    ? { case: "candidate" as const, value: named.position }
    : { case: "set" as const, value: setMessage(named.set) };
}
