/**
 * Each party's share of a trained model (docs/model-files.md). The active party's share has the structure of the trees,
 * its own splits and the leaf weights; a passive party's has its own splits and nothing else. No share reveals another
 * party's feature or threshold, and none contains a time, randomness or a candidate id: the same training gives the
 * same bytes.
 */
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { Storage } from "../base/files/storage.ts";
import type { ActiveModel } from "../protocol/active/role.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import { readSealed, sealedFormat, type SealedKind, writeSealed } from "./sealed-file.ts";

const activeFormat = "tandem-active-share/2";
const passiveFormat = "tandem-passive-share/2";

const index = z.number().int().nonnegative();
const remoteRule = z.strictObject({ owner: index.positive() });
/** The condition of a split: a threshold, or which categories go right. */
const asked = [
  { threshold: z.number(), defaultLeft: z.boolean() },
  { categories: z.array(z.string()).nonempty(), defaultLeft: z.boolean() },
] as const;
/** A rule of which everything is known, of the owner that `owner` admits. */
function ruleSchema<O extends z.ZodType<number>>(owner: O) {
  const feature = { owner, feature: index, featureName: z.string() };
  return z.union([z.strictObject({ ...feature, ...asked[0] }), z.strictObject({ ...feature, ...asked[1] })]);
}
/** A rule of any party. */
export const wholeRuleSchema = ruleSchema(index);
/** Children come after their parent, so that walking down a tree always ends. */
export function treeSchemaWith<R extends z.ZodType>(rule: R) {
  const node = z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("leaf"),
      weight: z.number(),
      weights: z.array(z.number()).optional(),
      cover: z.number(),
      count: index,
    }),
    z.strictObject({
      kind: z.literal("split"),
      left: index,
      right: index,
      gain: z.number(),
      cover: z.number(),
      count: index,
      rule,
    }),
  ]);
  return z.array(node).nonempty().refine(childrenComeLater, { message: "a node's children do not come after it" });
}
function childrenComeLater(nodes: readonly ({ kind: "leaf" } | { kind: "split"; left: number; right: number })[]) {
  return nodes.every(
    (at, id) => at.kind === "leaf" || [at.left, at.right].every((child) => child > id && child < nodes.length),
  );
}
export const treeSchema = treeSchemaWith(z.union([ruleSchema(z.literal(0)), remoteRule]));
/** The common fields of both kinds of share: its party, the job's name, and the model id. */
const origin = {
  name: z.string(),
  job: z.string(),
  model: z.string().regex(/^[0-9a-f]{64}$/, "a model id has 64 hex digits"),
  maskedScoring: z.literal(true).optional(),
  scoreNoise: z.number().positive().lt(1).optional(),
};
export const modelTermsSchema = {
  objective: z.enum(trainingParameters.objective.choices),
  baseMargin: z.number(),
  outputCount: index.min(2).optional(),
  parallelTrees: index.min(2).optional(),
  quantiles: z.array(z.number().gt(0).lt(1)).nonempty().optional(),
  takesBaseMargin: z.literal(true).optional(),
  treeWeights: z.array(z.number().nonnegative()).optional(),
};
const activeShare = z
  .strictObject({
    ...origin,
    ...modelTermsSchema,
    classes: z.array(z.string()).optional(),
    baseMarginColumn: z.string().optional(),
    passiveNames: z.array(z.string()),
    trees: z.array(treeSchema),
  })
  .refine(
    ({ outputCount = 1, trees }) =>
      trees.flat().every((at) => at.kind === "split" || at.weights === undefined || at.weights.length === outputCount),
    {
      message: "the number of weights of a leaf differs from the number of outputs",
    },
  )
  .refine(({ treeWeights, trees }) => treeWeights === undefined || treeWeights.length === trees.length, {
    message: "the number of tree weights differs from the number of trees",
  })
  .refine(({ outputCount = 2, classes }) => classes === undefined || classes.length === outputCount, {
    message: "the number of class names differs from that of the model",
  })
  .refine(
    ({ passiveNames, trees }) => trees.flat().every((at) => at.kind === "leaf" || at.rule.owner <= passiveNames.length),
    {
      message: "a split belongs to a party that is not named",
    },
  );
const splitPlace = { tree: index, node: index, feature: index, featureName: z.string() };
export const ownSplitSchema = z.union([
  z.strictObject({ ...splitPlace, ...asked[0] }),
  z.strictObject({ ...splitPlace, ...asked[1] }),
]);
export const passiveShareSchema = z.strictObject({ ...origin, active: z.string(), splits: z.array(ownSplitSchema) });

interface ShareOrigin {
  /** The party of the share, by the name in its own config. */
  readonly name: string;
  readonly job: string;
  /** From protocol/model-id.ts: equal in all shares of a model. */
  readonly model: string;
  /** Scoring is masked, without outcomes of splits, as agreed in training. Left out if it is not. */
  readonly maskedScoring?: true | undefined;
  /** Deviation of the noise in scores, as agreed in training. Left out if there is none. */
  readonly scoreNoise?: number | undefined;
}

/** The share's fields for masked scoring. */
export function maskedMark({
  masked_scoring: isMasked,
  score_noise: deviation,
}: {
  readonly masked_scoring: boolean;
  readonly score_noise: number;
}): Pick<ShareOrigin, "maskedScoring" | "scoreNoise"> {
  return isMasked ? { maskedScoring: true, ...(deviation > 0 ? { scoreNoise: deviation } : {}) } : {};
}

export interface ActiveShare extends ShareOrigin, ActiveModel {
  /** As in Model. */
  readonly classes?: readonly string[] | undefined;
  /** For a model with base margins: the active party's column of them. */
  readonly baseMarginColumn?: string | undefined;
}

/** The share's field for base margins. */
export function baseMarginMark(column: string | undefined): Pick<ActiveShare, "baseMarginColumn"> {
  return column === undefined ? {} : { baseMarginColumn: column };
}

export interface PassiveShare extends ShareOrigin {
  /** The active party, by the name under which this party has pinned it. */
  readonly active: string;
  readonly splits: readonly OwnSplit[];
}

const earlier = {
  format: /^tandem-(active|passive)-share\/1$/,
  advice: "An earlier version of Tandem wrote it, without the model's id: train again",
};
const common = { name: "share", noun: "a model share", code: "FILE_FORMAT", earlier } as const;
const activeKind: SealedKind<ActiveShare> = { ...common, format: activeFormat, schema: activeShare };
const passiveKind: SealedKind<PassiveShare> = { ...common, format: passiveFormat, schema: passiveShareSchema };

export function writeActiveShare(path: string, share: ActiveShare, storage?: Storage): Promise<void> {
  return writeSealed(path, activeKind, share, storage);
}

export function writePassiveShare(path: string, share: PassiveShare, storage?: Storage): Promise<void> {
  return writeSealed(path, passiveKind, share, storage);
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readActiveShare(path: string): Promise<ActiveShare> {
  return present(path, await readSealed(path, activeKind));
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readPassiveShare(path: string): Promise<PassiveShare> {
  return present(path, await readSealed(path, passiveKind));
}

/** A share of either kind. @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readShare(
  path: string,
): Promise<
  { readonly kind: "active"; readonly share: ActiveShare } | { readonly kind: "passive"; readonly share: PassiveShare }
> {
  if ((await sealedFormat(path)) === passiveFormat) return { kind: "passive", share: await readPassiveShare(path) };
  return { kind: "active", share: await readActiveShare(path) };
}

function present<T>(path: string, share: T | null): T {
  if (share === null) throw new TandemError("FILE_UNREADABLE", `${path}: the model share cannot be read`);
  return share;
}
