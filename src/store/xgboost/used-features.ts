/**
 * A merged model over the features that it splits on: an export needs no other column, and a consenting party need not
 * name one.
 */
import { TandemError } from "../../base/error.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import type { SplitRule, TreeNode } from "../../gbdt/tree/tree.ts";

export interface ModelOfUsedFeatures {
  /** Its rules have indices among the used features. */
  readonly model: Model;
  /** Per owner the names of the used features, in the owner's order. */
  readonly features: readonly (readonly string[])[];
}

/**
 * @throws TandemError FILE_FORMAT if a share has two names for one feature; USAGE if the model has no split, since
 *   XGBoost refuses a model without features
 */
export function withUsedFeatures(model: Model, partyCount: number): ModelOfUsedFeatures {
  const namesOf = Array.from({ length: partyCount }, () => new Map<number, string>());
  for (const node of model.trees.flat()) {
    if (node.kind === "leaf") continue;
    const { owner, feature, featureName } = node.rule;
    const known = namesOf[owner].get(feature);
    if (known !== undefined && known !== featureName)
      throw new TandemError("FILE_FORMAT", `the share of party ${owner} has two names for its feature ${feature}`);
    namesOf[owner].set(feature, featureName);
  }
  if (namesOf.every(({ size }) => size === 0))
    throw new TandemError("USAGE", "the model has no split: XGBoost refuses a model without features");
  const used = namesOf.map((names) => [...names].toSorted(([a], [b]) => a - b));
  const places = used.map((features) => new Map(features.map(([feature], place) => [feature, place])));
  const moved = (node: TreeNode<SplitRule>): TreeNode<SplitRule> =>
    node.kind === "leaf"
      ? node
      : { ...node, rule: { ...node.rule, feature: places[node.rule.owner].get(node.rule.feature) ?? 0 } };
  return {
    model: { ...model, trees: model.trees.map((tree) => tree.map(moved)) },
    features: used.map((features) => features.map(([, name]) => name)),
  };
}
