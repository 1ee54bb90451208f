/**
 * Interaction constraints, as XGBoost's (src/tree/constraints.cc): which features may stand on one path from the root
 * to a leaf. Groups of features have names that all parties of a job know; here each is a bit. Who else has features in
 * a group nobody needs to know.
 *
 * Every feature may split the root. Below it one may if some group has it and all features of the path. A feature that
 * is in no group stands alone. Groups that have all features of a path are open there: what is open below a split is
 * what was open above it and has the feature that splits. So of a path only its open groups have to be remembered, and
 * where none is open the one feature that it is made of.
 */

/** As many as fit the bits of one number. */
export const groupCountMax = 30;

/** What may split below a path; null at the root, and in a job without groups: everything. */
export interface Interactions {
  /** Groups that have all features of the path. 0: the path is one feature of no group, again and again. */
  readonly open: number;
  /** Whose feature that is, and which one; -1 where only its owner knows. Null where groups are open. */
  readonly alone: { readonly owner: number; readonly feature: number } | null;
}

/** Whether a feature may split a node. @param groups of the feature, as bits */
export function mayInteract(above: Interactions | null, owner: number, feature: number, groups = 0): boolean {
  if (above === null) return true;
  if (above.alone === null) return (above.open & groups) !== 0;
  return above.alone.owner === owner && above.alone.feature === feature;
}

/**
 * What may split below a node that this feature splits.
 * @param groups of the feature; undefined: the job has none
 */
export function interactionsBelow(
  above: Interactions | null,
  owner: number,
  feature: number,
  groups: number | undefined,
): Interactions | null {
  if (groups === undefined) return null;
  if (above !== null && above.alone !== null) return above;
  const open = above === null ? groups : above.open & groups;
  return open === 0 ? { open, alone: { owner, feature } } : { open, alone: null };
}

/** Groups that some of these features are in. */
export function groupsOf(features: readonly { readonly groups?: number | undefined }[]): number {
  return features.reduce((all, { groups = 0 }) => all | groups, 0);
}
