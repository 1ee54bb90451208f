/**
 * The lines of own.jsonl: what only the party itself may see. Each kind is declared once, with its schema and how it is
 * folded into the party's own view.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import type { ScoreCurves } from "../gbdt/evaluation/score-curves.ts";
import { contributionSummary } from "./contribution-facts.ts";
import { driftSummary } from "./drift-facts.ts";
import { evaluation, scoreCurvesOf } from "./evaluation/evaluation.ts";
import { exposure } from "./exposure.ts";
import { addRevealed, revealedFields } from "./revealed.ts";
import { count, flag, isLineOf, number, toSchemas, text } from "./fields.ts";
import type { OwnJobView, TreeNodeView } from "./own-view.ts";

/** A complete rule, known to its owner: gbdt/split/split-test.ts. */
const anyRule = { featureName: text, defaultLeft: flag };
const noValue = z.optional(z.undefined());
const numericRule = { ...anyRule, threshold: number, categories: noValue };
const categoricalRule = { ...anyRule, threshold: noValue, categories: z.array(text) };
/** Another party's rule: only its owner. */
const closedRule = { owner: count, featureName: noValue };

const node = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("leaf"), weight: number, count }),
  z.object({
    kind: z.literal("split"),
    left: count,
    right: count,
    gain: number,
    count,
    rule: z.union([
      z.object({ owner: count, ...numericRule }),
      z.object({ owner: count, ...categoricalRule }),
      z.object(closedRule),
    ]),
  }),
]);
/** Children of a node come after it, so that traversal terminates. */
const tree = z.array(node).check(
  z.minLength(1),
  z.refine((nodes) =>
    nodes.every(
      (one, id) =>
        one.kind === "leaf" ||
        (one.left !== one.right && [one.left, one.right].every((child) => child > id && child < nodes.length)),
    ),
  ),
);
const ownSplit = z.union([z.object({ node: count, ...numericRule }), z.object({ node: count, ...categoricalRule })]);
const scoreCurves: z.ZodMiniType<ScoreCurves> = z.object({
  roc: z.array(z.tuple([number, number])),
  cumulative: z.array(z.tuple([number, number, number])),
  ksAt: z.object({ score: number, ks: number }),
  histogram: z.object({ min: number, max: number, negatives: z.array(number), positives: z.array(number) }),
});

type Fields = z.core.$ZodShape;
type FieldsOf<F extends Fields> = Immutable<z.infer<z.ZodMiniObject<F>>>;

interface LineDefinition<F extends Fields> {
  readonly schema: z.ZodMiniObject<F>;
  /** @param parties the job's parties, the active one first, in the order of its config */
  readonly fold: (own: OwnJobView, line: FieldsOf<F>, parties: readonly string[]) => void;
}

function line<F extends Fields>(fields: F, fold: LineDefinition<F>["fold"]): LineDefinition<F> {
  return { schema: z.object(fields), fold };
}

const ownLines = {
  data: line({ sha256: text }, (own, { sha256 }) => {
    own.dataDigest = sha256;
  }),
  /** A tree as the active party knows it. */
  tree: line({ tree: count, nodes: tree }, (own, { tree: index, nodes }, parties) => {
    own.trees.set(index, { kind: "whole", tree: index, nodes: nodes.map((one) => nodeView(one, parties)) });
  }),
  /** Of booster dart, when the job has ended: the weights of its trees. */
  "tree-weights": line({ weights: z.array(number) }, (own, { weights }) => {
    own.treeWeights = weights;
  }),
  /** A passive party's splits of a tree. */
  "own-splits": line({ tree: count, splits: z.array(ownSplit) }, (own, { tree: index, splits }) => {
    own.trees.set(index, { kind: "own-splits", tree: index, splits });
  }),
  /** Of jobs before 0.7; now in the evaluation. */
  scores: line({ rows: z.literal("test"), curves: scoreCurves }, (own, { curves }) => {
    own.scores = curves;
  }),
  evaluation: line({ evaluation }, (own, { evaluation: made }) => {
    own.evaluation = made;
    own.scores = scoreCurvesOf(made);
  }),
  exposure: line({ exposures: z.array(exposure) }, (own, { exposures }) => {
    own.exposures = exposures;
  }),
  /** Before and after the job; the ledgers of its events count what the job itself has revealed. */
  revealed: line(revealedFields, (own, fact, parties) => {
    // The log of vettings has those with other partners too.
    if (parties.includes(fact.active) && parties.includes(fact.passive)) addRevealed(own.revealed, fact);
  }),
  contributions: line({ summary: contributionSummary }, (own, { summary }) => {
    own.contributions = summary;
  }),
  drift: line({ summary: driftSummary }, (own, { summary }) => {
    own.drift = summary;
  }),
};

type OwnLines = typeof ownLines;
type OwnKind = keyof OwnLines;
export type OwnLine = {
  [K in OwnKind]: OwnLines[K] extends LineDefinition<infer F> ? { readonly kind: K } & FieldsOf<F> : never;
}[OwnKind];

const schemas = toSchemas(ownLines);

/** Whether a line is valid; others are skipped, as in events.ts. */
export function isOwnLine(value: unknown): value is OwnLine {
  return isLineOf(schemas, "kind", value);
}

/** @param parties the job's parties, the active one first, in the order of its config */
export function addOwn(own: OwnJobView, value: OwnLine, parties: readonly string[]): void {
  if (!Object.hasOwn(ownLines, value.kind)) return; // written by a later version
  const fold = ownLines[value.kind].fold as (view: OwnJobView, line: OwnLine, names: readonly string[]) => void;
  fold(own, value, parties);
}

function nodeView(one: Immutable<z.infer<typeof node>>, parties: readonly string[]): TreeNodeView {
  if (one.kind === "leaf") return { kind: "leaf", weight: one.weight, count: one.count };
  const { left, right, gain, count: people, rule } = one;
  const owner = parties[rule.owner] ?? `party ${rule.owner}`;
  return { kind: "split", left, right, gain, count: people, owner, rule: rule.featureName === undefined ? null : rule };
}
