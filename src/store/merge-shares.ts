/**
 * Merges all shares into the whole model. Only allowed where one party may see them all: in a simulation, or for an
 * export to which every party has consented.
 */
import { TandemError } from "../base/error.ts";
import { type Model, modelTerms } from "../gbdt/tree/model.ts";
import type { SplitRule, TreeNode } from "../gbdt/tree/tree.ts";
import { type ActiveRule, isOwnRule } from "../protocol/active/federated-tree.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import { splitKey } from "../protocol/split-key.ts";
import type { ActiveShare, PassiveShare } from "./share-files.ts";

/**
 * @param passives in the order of active.passiveNames, which may differ from the names that the parties use themselves
 * @throws TandemError FILE_FORMAT if they are not the shares of one training: every split must be in exactly one share
 */
export function mergeShares(active: ActiveShare, passives: readonly PassiveShare[]): Model {
  checkBelongTogether(active, passives);
  const tables = passives.map(
    ({ splits }) => new Map(splits.map((split) => [splitKey(split.tree, split.node), split])),
  );
  const trees = active.trees.map((tree, treeIndex) =>
    tree.map((node, nodeIndex): TreeNode<SplitRule> => {
      if (node.kind === "leaf") return node;
      return { ...node, rule: wholeRule(node.rule, tables, treeIndex, nodeIndex) };
    }),
  );
  return {
    ...modelTerms(active),
    ...(active.classes === undefined ? {} : { classes: active.classes }),
    trees,
  };
}

function checkBelongTogether(active: ActiveShare, passives: readonly PassiveShare[]): void {
  if (passives.length !== active.passiveNames.length) {
    throw new TandemError(
      "FILE_FORMAT",
      `the model has ${active.passiveNames.length} passive parties, but ${passives.length} passive shares were given`,
    );
  }
  const nodes = active.trees.flat();
  passives.forEach(({ model, job, splits }, peer) => {
    const name = active.passiveNames[peer];
    if (model !== active.model) {
      throw new TandemError(
        "FILE_FORMAT",
        `the shares do not belong together: that of ${name} is of model ${model.slice(0, 12)} (job ${job}), ` +
          `the active party's of ${active.model.slice(0, 12)} (job ${active.job})`,
      );
    }
    const wanted = nodes.filter((node) => node.kind === "split" && node.rule.owner === peer + 1).length;
    if (splits.length !== wanted) {
      throw new TandemError(
        "FILE_FORMAT",
        `the shares do not belong together: ${name} has ${splits.length} splits, ` +
          `the active party's share ${wanted} of it`,
      );
    }
  });
}

function wholeRule(
  rule: ActiveRule,
  tables: readonly ReadonlyMap<string, OwnSplit>[],
  tree: number,
  node: number,
): SplitRule {
  if (isOwnRule(rule)) return rule;
  const split = tables[rule.owner - 1]?.get(splitKey(tree, node));
  if (split === undefined) {
    throw new TandemError(
      "FILE_FORMAT",
      `the shares do not belong together: passive party ${rule.owner} has no split for tree ${tree}, node ${node}`,
    );
  }
  const { tree: _tree, node: _node, ...own } = split;
  return { owner: rule.owner, ...own };
}
