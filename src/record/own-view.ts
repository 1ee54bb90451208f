/**
 * What only the party itself may see, folded from own.jsonl by own-lines.ts: its trees, the importance of parties and
 * features, and the curves of its scores. Of another party's split only the owner is shown.
 *
 * Runs in browsers too.
 */
import type { ScoreCurves } from "../gbdt/evaluation/score-curves.ts";
import type { SplitTest } from "../gbdt/split/split-test.ts";
import type { ContributionSummary } from "./contribution-facts.ts";
import type { DriftSummary } from "./drift-facts.ts";
import type { Revealed } from "./revealed.ts";
import type { ModelEvaluation } from "./evaluation/evaluation.ts";
import type { Exposure } from "./exposure.ts";

/** A tree's node as its viewer may see it. */
export type TreeNodeView =
  | { readonly kind: "leaf"; readonly weight: number; readonly count: number }
  | {
      readonly kind: "split";
      readonly left: number;
      readonly right: number;
      readonly gain: number;
      readonly count: number;
      readonly owner: string;
      readonly rule: RuleView | null;
    };

export type RuleView = SplitTest & { readonly featureName: string };

/** The active party sees the shape of a tree; a passive party sees its own splits, each at its node. */
export type TreeView =
  | { readonly kind: "whole"; readonly tree: number; readonly nodes: readonly TreeNodeView[] }
  | {
      readonly kind: "own-splits";
      readonly tree: number;
      readonly splits: readonly (RuleView & { readonly node: number })[];
    };

export interface Importance {
  /** A feature's name if it is the viewer's own; null: all features of the party. */
  readonly feature: string | null;
  readonly party: string;
  /** Null where the viewer does not learn gains. */
  readonly gain: number | null;
  readonly splits: number;
}

export interface OwnJobView {
  readonly trees: Map<number, TreeView>;
  /** Of booster dart: the weight of each tree; null: all equal, or not known yet. */
  treeWeights: readonly number[] | null;
  scores: ScoreCurves | null;
  /** How good the model is; null: not evaluated yet, or by an earlier version. */
  evaluation: ModelEvaluation | null;
  /** What was revealed after the job, a fact per day. */
  readonly revealed: Revealed[];
  /** SHA-256 of the rows that were trained on. */
  dataDigest: string | null;
  /** Results of the last audit of the job, one per pair of parties; empty: not audited. */
  exposures: readonly Exposure[];
  /** Contributions to the scores explained last; null: none were. */
  contributions: ContributionSummary | null;
  /** How far scores and own features have moved since the training; null: too few people were scored since. */
  drift: DriftSummary | null;
}

export function emptyOwn(): OwnJobView {
  return {
    trees: new Map(),
    treeWeights: null,
    scores: null,
    evaluation: null,
    revealed: [],
    dataDigest: null,
    exposures: [],
    contributions: null,
    drift: null,
  };
}

/** Title of a tree, with its weight for dart. */
export function treeTitle({ treeWeights }: Pick<OwnJobView, "treeWeights">, tree: number): string {
  const weight = treeWeights?.[tree];
  return `Tree ${tree + 1}${weight === undefined ? "" : `, weighs ${Number(weight.toPrecision(3))}`}`;
}

/** Importance of splits: per own feature, and per other party as a whole; the most important first. */
export function importance(own: OwnJobView, self: string): Importance[] {
  const rows = new Map<string, { feature: string | null; party: string; gain: number | null; splits: number }>();
  const count = (party: string, feature: string | null, gain: number | null): void => {
    const key = `${party}/${feature ?? ""}`;
    const row = rows.get(key) ?? { feature, party, gain: gain === null ? null : 0, splits: 0 };
    row.splits++;
    if (gain !== null && row.gain !== null) row.gain += gain;
    rows.set(key, row);
  };
  for (const tree of own.trees.values()) {
    if (tree.kind === "own-splits") for (const { featureName } of tree.splits) count(self, featureName, null);
    else
      for (const node of tree.nodes)
        if (node.kind === "split") count(node.owner, node.rule?.featureName ?? null, node.gain);
  }
  return [...rows.values()].sort((a, b) => (b.gain ?? 0) - (a.gain ?? 0) || b.splits - a.splits);
}

/** Name of a row: an own feature by its name, the features of another party as one. */
export function importanceName({ feature, party }: Importance): string {
  return feature ?? `all features of ${party}`;
}

export interface ImportanceFractions {
  /** "fraction of gain", or of splits: a passive party does not learn gains. */
  readonly title: string;
  /** Each row's fraction of the total, in the order of the rows. */
  readonly fractions: readonly number[];
}

export function importanceFractions(rows: readonly Importance[]): ImportanceFractions {
  const knowsGain = rows.every(({ gain }) => gain !== null);
  const worth = rows.map(({ gain, splits }) => (knowsGain ? (gain ?? 0) : splits));
  const total = worth.reduce((sum, value) => sum + value, 0) || 1;
  return {
    title: knowsGain ? "fraction of gain" : "fraction of own splits",
    fractions: worth.map((value) => value / total),
  };
}

/** The same rows, summed per party. */
export function importanceByParty(rows: readonly Importance[]): Importance[] {
  const parties = new Map<string, { gain: number | null; splits: number }>();
  for (const { party, gain, splits } of rows) {
    const sum = parties.get(party);
    parties.set(party, {
      gain: sum === undefined ? gain : gain === null || sum.gain === null ? null : sum.gain + gain,
      splits: (sum?.splits ?? 0) + splits,
    });
  }
  return [...parties].map(([party, sum]) => ({ feature: null, party, ...sum }));
}
