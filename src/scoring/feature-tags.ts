/**
 * Which of a party's splits in one tree share a feature: what SHAP values need of features whose names are not sent.
 *
 * Tags count from 0 in every tree, in the order in which its splits first need them. So they follow from which splits
 * belong together and reveal nothing else: no name, no order of features, nothing across trees. A party always answers
 * the same.
 *
 * @reveals active: where the party allows explanations, which of its splits of one tree share a feature
 */
import { TandemError } from "../base/error.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import { bySplitOrder } from "../protocol/passive/split-outcomes.ts";

/** Per split, in the order of (tree, node). */
export type FeatureTags = readonly number[];

export function featureTags(splits: readonly Pick<OwnSplit, "tree" | "node" | "featureName">[]): FeatureTags {
  let [tree, known] = [-1, new Map<string, number>()];
  return splits.toSorted(bySplitOrder).map((split) => {
    if (split.tree !== tree) [tree, known] = [split.tree, new Map()];
    const tag = known.get(split.featureName) ?? known.size;
    known.set(split.featureName, tag);
    return tag;
  });
}

/**
 * A party can group the wrong splits. It cannot send tags of other splits than its own, or encode anything else: each
 * grouping has exactly one encoding.
 * @param trees of each of its splits, ascending
 * @throws TandemError PROTOCOL_STATE
 */
export function checkTags(party: string, tags: FeatureTags, trees: readonly number[]): void {
  if (tags.length !== trees.length)
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${party} sent tags of ${tags.length} splits; our share of the model has ${trees.length} of it`,
    );
  let next = 0;
  tags.forEach((tag, split) => {
    if (split > 0 && trees[split] !== trees[split - 1]) next = 0;
    if (tag > next) throw new TandemError("PROTOCOL_STATE", `party ${party} sent tags that are not numbered from 0`);
    if (tag === next) next++;
  });
}
