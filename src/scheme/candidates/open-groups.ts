/**
 * Which of a passive party's features may split a node under interaction constraints. The active party sends the
 * constraint groups that are still allowed ("open") at the node, among those that contain features of the party. The
 * party checks them as far as it can: below one of its own splits, exactly the groups open at the parent that contain
 * the split feature are open. It does not know the other parties' splits, but those can only close groups.
 */
import { TandemError } from "../../base/error.ts";
import { type Interactions, interactionsBelow } from "../../gbdt/split/interactions.ts";

/** A feature of this party that split a node. */
export interface OwnSplitFeature {
  readonly feature: number;
  readonly groups: number;
}

/**
 * @param above the features that may split the parent; null: the parent is the root
 * @param sent the open groups as the active party sends them
 * @param mine the groups that contain features of this party
 * @param splitBy the feature of this party that split the parent; null: another party's feature did
 * @throws TandemError PROTOCOL_STATE if the open groups are impossible
 */
export function openBelow(
  above: Interactions | null,
  sent: number,
  mine: number,
  splitBy: OwnSplitFeature | null,
): Interactions {
  if (splitBy !== null) {
    const below = interactionsBelow(above, 0, splitBy.feature, splitBy.groups);
    if (below !== null && below.open === sent) return below;
    throw new TandemError(
      "PROTOCOL_STATE",
      "the open interaction groups differ from those that this party's split leaves open",
    );
  }
  const open = above === null ? mine : above.open;
  if (sent === 0 || (sent & ~open) !== 0)
    throw new TandemError(
      "PROTOCOL_STATE",
      "the open interaction groups were closed above, or contain none of this party's",
    );
  return { open: sent, alone: null };
}
