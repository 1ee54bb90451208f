/** The decision about a node, as sent to a passive party, and that party's answer. */
import type { Named } from "../../scheme/candidates/best-candidates.ts";
import { setMessage } from "../../scheme/candidates/category-group.ts";
import type { Interactions } from "../../gbdt/split/interactions.ts";

/** A party's answer about a split that it won. */
export interface SplitAnswer {
  /** Bitmap over the node's instances. */
  readonly leftMembers: Uint8Array;
  /** The monotone constraint of the split's feature: 1, -1, or 0 for none. */
  readonly monotone: number;
  /** Interaction groups of that feature that are allowed at the node. */
  readonly groups: number;
}

export interface Decision {
  readonly node: number;
  /** The node's members. */
  readonly instances: Uint32Array;
  readonly named: Named;
  /** With noise, the number of candidates that tie with it (scheme/candidates/same-sums.ts); otherwise 0. */
  readonly constraints: number;
  /** Interaction constraints at the node. */
  readonly interactions: Interactions | null;
  /** Whether the instances on either side of a bitmap add up to the answered sums. */
  readonly addsUp: (leftMembers: Uint8Array) => boolean;
}

/**
 * Whether the groups that a party names for its split are possible: a subset of those that it has features in and that
 * are allowed, not empty if there are any.
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
