/**
 * A whole model in XGBoost's JSON format, as version 1.7.4 writes it with save_model("x.json"); 1.7 and later load it
 * if they support the objective (gbdt/tree/xgboost-agreement.ts). Only allowed where one party may see every party's
 * splits: a simulation, or an export to which every party consented.
 *
 * Leaf weights, thresholds and default directions are float32 and exact on both sides: every row reaches the same leaf
 * of every tree. XGBoost adds their weights up in float32, we in double: predictions agree to 1e-6 or 1e-5
 * of max(1, |prediction|), not to the bit (gbdt/tree/xgboost-agreement.ts).
 *
 * Categories are numbers in XGBoost; the mapping is in the model's attribute `categories` (categories.ts). Class names
 * are in the attribute `classes`, also JSON text, in the order of their numbers.
 */
import { assert } from "../../base/assert.ts";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import { TandemError } from "../../base/error.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import type { SplitRule, Tree } from "../../gbdt/tree/tree.ts";
import { categoriesText, categoryCodes, type CategoryCodes, categoryColumns } from "./categories.ts";
import { type XgboostBooster, xgboostBooster, weighingTree } from "./booster.ts";
import { xgboostFeatureNames } from "./names.ts";
import { toXgboostStart, type XgboostObjective, xgboostObjective } from "./objective.ts";
import { xgboostText } from "./text.ts";

/** One tree, a column per field; node ids are ours. */
export interface XgboostTree {
  /** The weight that a node would have as a leaf. XGBoost reads it, but never predicts with it. */
  readonly base_weights: readonly number[];
  /** The codes that go right, node after node. */
  readonly categories: readonly number[];
  /** The categorical nodes; where the codes of each begin, and how many they are. */
  readonly categories_nodes: readonly number[];
  readonly categories_segments: readonly number[];
  readonly categories_sizes: readonly number[];
  readonly default_left: readonly (0 | 1)[];
  readonly id: number;
  readonly left_children: readonly number[];
  readonly loss_changes: readonly number[];
  readonly parents: readonly number[];
  readonly right_children: readonly number[];
  /** A split's threshold or a leaf's weight; 0 for categorical splits. */
  readonly split_conditions: readonly number[];
  readonly split_indices: readonly number[];
  /** 1: categories. */
  readonly split_type: readonly (0 | 1)[];
  readonly sum_hessian: readonly number[];
  readonly tree_param: Readonly<Record<"num_deleted" | "num_feature" | "num_nodes" | "size_leaf_vector", string>>;
}

export interface XgboostModel {
  readonly learner: {
    readonly attributes: Readonly<Record<string, string>>;
    readonly feature_names: readonly string[];
    readonly feature_types: readonly string[];
    readonly gradient_booster: XgboostBooster<XgboostTree>;
    readonly learner_model_param: Readonly<
      Record<"base_score" | "boost_from_average" | "num_class" | "num_feature" | "num_target", string>
    >;
    readonly objective: XgboostObjective;
  };
  readonly version: readonly [number, number, number];
}

/** XGBoost's ids for "no child" and "no parent". */
const noChild = -1;
const noParent = 2 ** 31 - 1;
const float32Max = (2 - 2 ** -23) * 2 ** 127;

/**
 * A model as XGBoost's JSON object, keys in XGBoost's order. Its features are the active party's, then each passive
 * party's, in order. Serialise it with xgboostText or writeXgboostModel: XGBoost rejects the text of JSON.stringify.
 * @param features each owner's feature names, as in training; names.ts defines which of them are changed
 * @param partyNames for names that several parties use; default: "active", "passive-1", ...
 * @throws TandemError USAGE if the model was trained on features of other names
 */
export function xgboostModel(
  model: Model,
  features: readonly (readonly string[])[],
  partyNames?: readonly string[],
): XgboostModel {
  const featureNames = xgboostFeatureNames(
    features,
    partyNames ?? features.map((_, i) => (i === 0 ? "active" : `passive-${i}`)),
  );
  const featureCount = featureNames.length;
  const featureIndex = featureIndexIn(features);
  const { baseScore, rest } = toXgboostStart(model);
  const { outputCount = 1, quantiles } = model;
  const targetCount = quantiles?.length ?? 1;
  const codes = categoryCodes(model, featureIndex);
  const adds = weighingTree(model);
  const trees = model.trees
    .flatMap(treesOfOneOutput)
    .map((tree, id) => (rest !== 0 && id === adds.tree ? withAdded(tree, rest / adds.weight) : tree))
    .map((tree, id) => exportTree(tree, id, featureCount, featureIndex, codes));
  return {
    learner: {
      attributes: {
        ...(codes.size === 0 ? {} : { categories: categoriesText(codes, featureNames) }),
        ...(model.classes === undefined ? {} : { classes: JSON.stringify(model.classes) }),
      },
      feature_names: featureNames,
      feature_types: codes.size === 0 ? [] : featureNames.map((_, feature) => (codes.has(feature) ? "c" : "float")),
      gradient_booster: xgboostBooster(model, trees),
      learner_model_param: {
        base_score: xgboostText(baseScore),
        boost_from_average: "0",
        num_class: String(outputCount === 1 || targetCount > 1 ? 0 : outputCount),
        num_feature: String(featureCount),
        num_target: String(targetCount),
      },
      objective: xgboostObjective(model),
    },
    version: [1, 7, 4],
  };
}

/**
 * Parameters as those of xgboostModel, and the file's mode. @throws TandemError FILE_UNWRITABLE naming the file, or as
 * xgboostModel
 */
export async function writeXgboostModel(
  path: string,
  model: Model,
  features: readonly (readonly string[])[],
  partyNames?: readonly string[],
  mode = 0o600,
): Promise<void> {
  await writeFileAtomically(path, `${xgboostText(xgboostModel(model, features, partyNames))}\n`, mode);
}

/** @returns the index of a rule's feature among all parties' features */
function featureIndexIn(features: readonly (readonly string[])[]): (rule: SplitRule) => number {
  const firstOf = features.map((_, owner) => features.slice(0, owner).flat().length);
  return ({ owner, feature, featureName }) => {
    const given = features[owner]?.[feature];
    if (given === featureName) return firstOf[owner] + feature;
    // Parties in another order would export without an error and predict nonsense.
    const stands = given === undefined ? "is not among the names given" : `is called '${given}' among the names given`;
    throw new TandemError("USAGE", `feature ${feature} of party ${owner}, '${featureName}' in the model, ${stands}`);
  };
}

/** XGBoost 1.7 has no vector leaves: they become one tree of the same structure per output. */
function treesOfOneOutput(tree: Tree<SplitRule>): Tree<SplitRule>[] {
  const vector = tree.find((node) => node.kind === "leaf" && node.weights !== undefined);
  if (vector?.kind !== "leaf" || vector.weights === undefined) return [tree];
  return vector.weights.map((_, k) =>
    tree.map((node) => (node.kind === "leaf" ? { ...node, weight: node.weights?.[k] ?? node.weight } : node)),
  );
}

function withAdded(tree: Tree<SplitRule>, rest: number): Tree<SplitRule> {
  return tree.map((node) => (node.kind === "leaf" ? { ...node, weight: Math.fround(node.weight + rest) } : node));
}

function exportTree(
  tree: Tree<SplitRule>,
  id: number,
  featureCount: number,
  featureIndex: (rule: SplitRule) => number,
  codes: CategoryCodes,
): XgboostTree {
  const parents = tree.map(() => noParent);
  tree.forEach((node, parent) => {
    if (node.kind === "split") parents[node.left] = parents[node.right] = parent;
  });
  return {
    base_weights: meanWeights(tree).map(statistic),
    ...categoryColumns(tree, featureIndex, codes),
    default_left: tree.map((node) => (node.kind === "split" && node.rule.defaultLeft ? 1 : 0)),
    id,
    left_children: tree.map((node) => (node.kind === "split" ? node.left : noChild)),
    loss_changes: tree.map((node) => (node.kind === "split" ? statistic(node.gain) : 0)),
    parents,
    right_children: tree.map((node) => (node.kind === "split" ? node.right : noChild)),
    split_conditions: tree.map((node) =>
      exactFloat32(node.kind === "split" ? (node.rule.threshold ?? 0) : node.weight),
    ),
    split_indices: tree.map((node) => (node.kind === "split" ? featureIndex(node.rule) : 0)),
    split_type: tree.map((node) => (node.kind === "split" && node.rule.categories !== undefined ? 1 : 0)),
    sum_hessian: tree.map((node) => statistic(node.cover)),
    tree_param: {
      num_deleted: "0",
      num_feature: String(featureCount),
      num_nodes: String(tree.length),
      size_leaf_vector: "0",
    },
  };
}

/** Each node's leaf weights, averaged by cover: a model does not store the gradient sums that XGBoost uses here. */
function meanWeights(tree: Tree<SplitRule>): number[] {
  const means = tree.map((node) => (node.kind === "leaf" ? node.weight : 0));
  // Children come after their parents.
  for (let id = tree.length - 1; id >= 0; id--) {
    const node = tree[id];
    if (node.kind === "leaf") continue;
    const [left, right] = [tree[node.left].cover, tree[node.right].cover];
    if (left + right > 0) means[id] = (left * means[node.left] + right * means[node.right]) / (left + right);
  }
  return means;
}

/** Predictions depend on it: our models have float32 numbers here, and nothing may be rounded. */
function exactFloat32(value: number): number {
  assert(
    Number.isFinite(value) && Math.fround(value) === value,
    "thresholds and leaf weights are finite float32 numbers",
  );
  return value;
}

/**
 * Informational only: doubles, rounded to float32; a gain of huge labels may exceed it, and XGBoost reads no infinity.
 */
function statistic(value: number): number {
  return Math.min(Math.max(Math.fround(value), -float32Max), float32Max);
}
