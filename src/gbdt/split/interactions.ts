/**
 * Interaction constraints, as in XGBoost (src/tree/constraints.cc): which features may occur on one path from the root
 * to a leaf. Groups of features have names that all parties of a job know; here each is a bit. A party does not need to
 * know which other parties have features in a group.
 *
 * Every feature may split the root. Below it a feature is allowed if some group contains it and all features of the
 * path. A feature that is in no group stands alone. Groups that contain all features of a path are open there: the
 * groups open below a split are those open above it that contain the split feature. So for a path only its open groups
 * have to be stored, and, if none is open, the single feature of the path.
 */

/** The number of bits of one number. */
export const groupCountMax = 30;

/** The features that may split below a path; null at the root, and in a job without constraints: all. */
export interface Interactions {
  /** Groups that contain all features of the path. 0: the path has a single feature, which is in no group. */
  readonly open: number;
  /** The owner and index of that feature; -1 where only its owner knows. Null if groups are open. */
  readonly alone: { readonly owner: number; readonly feature: number } | null;
}

/** Whether a feature may split a node. @param groups of the feature, as bits */
export function mayInteract(above: Interactions | null, owner: number, feature: number, groups = 0): boolean {
  if (above === null) return true;
  if (above.alone === null) return (above.open & groups) !== 0;
  return above.alone.owner === owner && above.alone.feature === feature;
}

/**
 * The features that may split below a node that is split by this feature.
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

/** The groups that contain at least one of these features. */
export function groupsOf(features: readonly { readonly groups?: number | undefined }[]): number {
  return features.reduce((all, { groups = 0 }) => all | groups, 0);
}
