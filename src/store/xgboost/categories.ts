/**
 * Categories in an exported model. XGBoost identifies them by code; ours are texts. The categories of a feature that
 * occur in some split get codes in the order of their texts. A category that occurs in no split goes left everywhere,
 * and so does any larger code: so no other category needs a code, and no party has to reveal its other categories.
 *
 * The codes are in the model's attribute `categories`: JSON text, an object from feature names, as in the file, to
 * lists of categories in the order of their codes.
 */
import { assert } from "../../base/assert.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import type { SplitRule, Tree } from "../../gbdt/tree/tree.ts";
import type { XgboostTree } from "./export.ts";

/** Per categorical feature, by its index among all features, its categories in the order of their codes. */
export type CategoryCodes = ReadonlyMap<number, readonly string[]>;

export function categoryCodes({ trees }: Model, featureIndex: (rule: SplitRule) => number): CategoryCodes {
  const found = new Map<number, Set<string>>();
  for (const node of trees.flat()) {
    if (node.kind === "leaf" || node.rule.categories === undefined) continue;
    const feature = featureIndex(node.rule);
    const names = found.get(feature) ?? new Set();
    for (const category of node.rule.categories) names.add(category);
    found.set(feature, names);
  }
  return new Map([...found].map(([feature, names]) => [feature, [...names].sort()]));
}

export function categoriesText(codes: CategoryCodes, featureNames: readonly string[]): string {
  return JSON.stringify(
    Object.fromEntries(
      [...codes].toSorted(([a], [b]) => a - b).map(([feature, names]) => [featureNames[feature], names]),
    ),
  );
}

/** XGBoost's fields of a tree for categorical splits: the categories that go right. */
export function categoryColumns(
  tree: Tree<SplitRule>,
  featureIndex: (rule: SplitRule) => number,
  codes: CategoryCodes,
): Pick<XgboostTree, "categories" | "categories_nodes" | "categories_segments" | "categories_sizes"> {
  const categories: number[] = [];
  const nodes: number[] = [];
  const segments: number[] = [];
  const sizes: number[] = [];
  tree.forEach((node, id) => {
    if (node.kind === "leaf" || node.rule.categories === undefined) return;
    const names = codes.get(featureIndex(node.rule)) ?? [];
    const right = node.rule.categories.map((category) => names.indexOf(category)).sort((a, b) => a - b);
    assert(right.length > 0 && right[0] >= 0, "every category of a rule has a code");
    nodes.push(id);
    segments.push(categories.length);
    sizes.push(right.length);
    categories.push(...right);
  });
  return { categories, categories_nodes: nodes, categories_segments: segments, categories_sizes: sizes };
}
