/**
 * A party's share of the start model (warm start), converted to the terms of the new job: features by their place in
 * the present table, owners by their place in the present config. Names are what counts.
 */
import { TandemError } from "../../base/error.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import { modelTerms } from "../../gbdt/tree/model.ts";
import { checkKind, type SplitTest } from "../../gbdt/split/split-test.ts";
import { type ActiveRule, isOwnRule } from "../../protocol/active/federated-tree.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { checkScoreNoise } from "../../scheme/masked/score-noise.ts";
import type { ActiveStart } from "../../protocol/active/role.ts";
import type { ActiveShare } from "../../store/share-files.ts";
import type { ActiveConfig } from "../config/config.ts";
import { findActiveShare } from "./find-share.ts";

/** What rules ask about. */
type Columns = Pick<PartyTable, "featureNames" | "features" | "categories" | "classes">;

/**
 * @param table the active party's
 * @throws TandemError MODEL_UNKNOWN, USAGE if the parties are not the same, COLUMN_UNKNOWN for a rule whose feature is
 * not there or of another kind
 */
export async function readStart(
  { warm_start: wanted, passives, output, job }: Pick<ActiveConfig, "warm_start" | "passives" | "output" | "job">,
  table: Columns,
): Promise<ActiveStart | null> {
  if (wanted === undefined) return null;
  checkScoreNoise(job.privacy, true); // before a party is contacted
  return startFrom(
    await findActiveShare(wanted.model, { output }),
    passives.map(({ name }) => name),
    table,
  );
}

export function startFrom(share: ActiveShare, parties: readonly string[], table: Columns): ActiveStart {
  const { model, job, classes, passiveNames, trees } = share;
  const [gone] = passiveNames.filter((name) => !parties.includes(name));
  if (gone !== undefined)
    throw new TandemError(
      "USAGE",
      `warm start: the model of job ${job} was trained with ${gone}, which is not among the 'passives' of the config`,
    );
  const [added] = parties.filter((name) => !passiveNames.includes(name));
  if (added !== undefined)
    throw new TandemError(
      "USAGE",
      `warm start: the model of job ${job} was trained without ${added}, which has no share of it`,
    );
  if (JSON.stringify(classes ?? null) !== JSON.stringify(table.classes ?? null))
    throw new TandemError(
      "USAGE",
      `warm start: the model of job ${job} was trained for other classes than the labels have now. ` +
        "Name the same in the same order (data.classes)",
    );
  const ruleOf = (rule: ActiveRule): ActiveRule =>
    isOwnRule(rule)
      ? { ...rule, feature: placeOf(rule, table) }
      : { ...rule, owner: parties.indexOf(passiveNames[rule.owner - 1]) + 1 };
  return {
    model,
    ...modelTerms(share),
    trees: trees.map((tree) =>
      tree.map((node) => (node.kind === "leaf" ? node : { ...node, rule: ruleOf(node.rule) })),
    ),
  };
}

/** A passive party's splits. @throws TandemError COLUMN_UNKNOWN */
export function splitsOver(splits: readonly OwnSplit[], table: Columns): OwnSplit[] {
  return splits.map((split) => ({ ...split, feature: placeOf(split, table) }));
}

function placeOf(rule: SplitTest & { readonly featureName: string }, table: Columns): number {
  const { featureName: name } = rule;
  const place = table.featureNames.indexOf(name);
  if (place === -1)
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `warm start: the data has no feature '${name}', which the start model uses`,
    );
  checkKind(rule, name, table.features[place], categoryNamesPerFeature(table)[place]);
  return place;
}
