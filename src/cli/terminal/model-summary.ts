/** Summary of a model from one party's share: counts, splits per party, and importance of the party's own features. */
import { type Importance, importanceBy } from "../../gbdt/tree/importance.ts";
import { isOwnRule } from "../../protocol/active/federated-tree.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { ActiveShare, PassiveShare } from "../../store/share-files.ts";
import { textTable } from "./text-table.ts";

export interface SplitCount {
  readonly name: string;
  readonly splits: number;
}

/** Sums over splits. The active party knows gain and cover of every party's splits. */
export interface SplitGain extends SplitCount {
  readonly gain: number;
  readonly cover: number;
}

export interface ActiveSummary {
  readonly role: "active";
  readonly name: string;
  readonly job: string;
  readonly model: string;
  readonly objective: string;
  /** Names of the classes, if they have any. */
  readonly classes?: readonly string[];
  readonly baseMargin: number;
  /** The column with the base margin of each instance; left out: all instances start at `baseMargin`. */
  readonly baseMarginColumn?: string;
  readonly trees: number;
  readonly leaves: number;
  /** Booster dart: the weight of each tree; left out: all equal. */
  readonly treeWeights?: readonly number[];
  /** This party first. */
  readonly parties: readonly SplitGain[];
  /** Its own, by decreasing gain. */
  readonly features: readonly SplitGain[];
}

export interface PassiveSummary {
  readonly role: "passive";
  readonly name: string;
  readonly job: string;
  readonly model: string;
  readonly active: string;
  readonly splits: number;
  /** Trees with a split of this party. */
  readonly trees: number;
  readonly features: readonly SplitCount[];
}

export function summariseActive({
  name,
  job,
  model,
  objective,
  classes,
  baseMargin,
  baseMarginColumn,
  passiveNames,
  trees,
  treeWeights,
}: ActiveShare): ActiveSummary {
  const byOwner = importanceBy(trees, ({ owner }) => owner);
  const parties = [name, ...passiveNames].map((party, owner) => splitGain(party, byOwner.get(owner)));
  const byFeature = importanceBy(trees, (rule) => (isOwnRule(rule) ? rule.featureName : null));
  const features = [...byFeature].map(([feature, importance]) => splitGain(feature, importance));
  const leaves = trees.flat().filter(({ kind }) => kind === "leaf").length;
  const named = classes === undefined ? {} : { classes };
  const start = { baseMargin, ...(baseMarginColumn === undefined ? {} : { baseMarginColumn }) };
  const counts = { trees: trees.length, leaves, ...(treeWeights === undefined ? {} : { treeWeights }) };
  return { role: "active", name, job, model, objective, ...named, ...start, ...counts, parties, features };
}

function splitGain(
  name: string,
  { weight, totalGain, totalCover }: Importance = { weight: 0, totalGain: 0, totalCover: 0 },
): SplitGain {
  return { name, splits: weight, gain: totalGain, cover: totalCover };
}

export function summarisePassive({ name, job, model, active, splits }: PassiveShare): PassiveSummary {
  const trees = new Set(splits.map(({ tree }) => tree)).size;
  return { role: "passive", name, job, model, active, splits: splits.length, trees, features: featureCounts(splits) };
}

/** How many splits each feature has, the most first. */
export function featureCounts(splits: readonly OwnSplit[]): SplitCount[] {
  const counts = new Map<string, number>();
  for (const { featureName } of splits) counts.set(featureName, (counts.get(featureName) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, splits: count })).toSorted((a, b) => b.splits - a.splits);
}

export function readableSummary(summary: ActiveSummary | PassiveSummary): string {
  const { role, name, job, model } = summary;
  if (role === "passive") {
    const facts = [
      ["model", model],
      ["job", job],
      ["share of", `${name}, a passive party; the active one is ${summary.active}`],
      ["splits", `${summary.splits}, in ${summary.trees} trees`],
    ];
    const features = textTable([
      ["own feature", "splits"],
      ...summary.features.map((feature) => [peerText(feature.name), String(feature.splits)]),
    ]);
    return [factLines(facts), ...(summary.features.length === 0 ? [] : ["", features])].join("\n");
  }
  const { objective, classes, baseMargin, baseMarginColumn, trees, leaves, treeWeights, parties, features } = summary;
  const start = baseMarginColumn === undefined ? shortNumber(baseMargin) : `column '${peerText(baseMarginColumn)}'`;
  const facts = [
    ["model", model],
    ["job", job],
    ["share of", `${name}, the active party`],
    ["objective", `${objective}, margins start at ${start}`],
    ...(classes === undefined ? [] : [["classes", classes.join(", ")]]),
    ["trees", `${trees}, with ${leaves} leaves`],
    ...(treeWeights === undefined ? [] : [["booster", `dart: tree weights ${rangeOf(treeWeights)}`]]),
  ];
  return [
    factLines(facts),
    "",
    gainTable("party", parties),
    ...(features.length === 0 ? [] : ["", gainTable("own feature", features, parties)]),
  ].join("\n");
}

function rangeOf(values: readonly number[]): string {
  const ordered = values.toSorted((a, b) => a - b).map(shortNumber);
  const [low, high] = [ordered[0], ordered[ordered.length - 1]];
  return low === high ? low : `${low} to ${high}`;
}

/** @param all rows whose total gain is 100 % */
export function gainTable(title: string, rows: readonly SplitGain[], all: readonly SplitGain[] = rows): string {
  const total = all.reduce((sum, { gain }) => sum + gain, 0);
  const percent = (gain: number): string => `${total === 0 ? "0" : ((100 * gain) / total).toFixed(1)} %`;
  return textTable([
    [title, "splits", "gain", "of all gain", "cover"],
    ...rows.map((row) => [
      peerText(row.name),
      String(row.splits),
      shortNumber(row.gain),
      percent(row.gain),
      shortNumber(row.cover),
    ]),
  ]);
}

/** Four digits are enough to look at. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function factLines(facts: readonly (readonly string[])[]): string {
  return facts.map(([title, value]) => `  ${title.padEnd(10)}  ${peerText(value)}`).join("\n");
}
