/**
 * Which of a passive party's features may split a node, where features interact in groups only. The active party says
 * which groups are open there, of those that the party has features in; the party checks what it can. It knows its own
 * splits: below one of them just what was open above and has its feature is open. What others have split it does not
 * know, but they can only close groups.
 */
import { TandemError } from "../../base/error.ts";
import { type Interactions, interactionsBelow } from "../../gbdt/split/interactions.ts";

/** A feature of the party's own that split a node. */
export interface OwnSplitFeature {
  readonly feature: number;
  readonly groups: number;
}

/**
 * @param above what may split the parent; null: it is the root
 * @param told the groups that are said to be open
 * @param mine the groups that the party has features in
 * @param splitBy what of its own split the parent; null: somebody else's feature did
 * @throws TandemError PROTOCOL_STATE if this cannot be
 */
export function openBelow(
  above: Interactions | null,
  told: number,
  mine: number,
  splitBy: OwnSplitFeature | null,
): Interactions {
  if (splitBy !== null) {
    const below = interactionsBelow(above, 0, splitBy.feature, splitBy.groups);
    if (below !== null && below.open === told) return below;
    throw new TandemError("PROTOCOL_STATE", "other groups are said to be open than this party's split leaves open");
  }
  const open = above === null ? mine : above.open;
  if (told === 0 || (told & ~open) !== 0)
    throw new TandemError("PROTOCOL_STATE", "groups are said to be open that cannot be, or none of this party's");
  return { open: told, alone: null };
}
