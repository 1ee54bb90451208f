/**
 * What each party keeps of a trained model. The active party's share has the shape of the trees, its own splits and the
 * leaf weights; a passive party's has its own splits and nothing else. No share reveals another party's feature or
 * threshold, and none holds a time, a job id or a candidate id: the same training gives the same bytes.
 */
import { z } from "zod";
import { TandemError } from "../base/error.ts";
import { trainingParameters } from "../base/parameters.ts";
import type { Storage } from "../base/storage.ts";
import type { ActiveModel } from "../protocol/active-role.ts";
import type { OwnSplit } from "../protocol/passive-role.ts";
import { readSealed, type SealedKind, writeSealed } from "./sealed-file.ts";

const activeFormat = "tandem-active-share/1";
const passiveFormat = "tandem-passive-share/1";

const index = z.number().int().nonnegative();
const remoteRule = z.strictObject({ owner: index.positive() });
const ownRule = z.strictObject({
  owner: z.literal(0),
  feature: index,
  featureName: z.string(),
  threshold: z.number(),
  defaultLeft: z.boolean(),
});
const node = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("leaf"), weight: z.number(), cover: z.number(), count: index }),
  z.strictObject({
    kind: z.literal("split"),
    left: index,
    right: index,
    gain: z.number(),
    cover: z.number(),
    count: index,
    rule: z.union([ownRule, remoteRule]),
  }),
]);
/** Children stand after their parent: walking down a tree always ends. */
export const treeSchema = z
  .array(node)
  .nonempty()
  .refine((nodes) => nodes.every((at, id) => at.kind === "leaf" || [at.left, at.right].every((child) => child > id && child < nodes.length)), {
    message: "a node's children do not come after it",
  });
const activeShare = z
  .strictObject({
    objective: z.enum(trainingParameters.objective.choices),
    baseMargin: z.number(),
    passiveNames: z.array(z.string()),
    trees: z.array(treeSchema),
  })
  .refine(({ passiveNames, trees }) => trees.flat().every((at) => at.kind === "leaf" || at.rule.owner <= passiveNames.length), {
    message: "a split belongs to a party that is not named",
  });
export const ownSplitSchema = z.strictObject({ tree: index, node: index, feature: index, featureName: z.string(), threshold: z.number(), defaultLeft: z.boolean() });
const passiveShare = z.strictObject({ name: z.string(), splits: z.array(ownSplitSchema) });

export interface PassiveShare {
  readonly name: string;
  readonly splits: readonly OwnSplit[];
}

const activeKind: SealedKind<ActiveModel> = { format: activeFormat, name: "share", noun: "a model share", schema: activeShare, code: "FILE_FORMAT" };
const passiveKind: SealedKind<PassiveShare> = { format: passiveFormat, name: "share", noun: "a model share", schema: passiveShare, code: "FILE_FORMAT" };

export function writeActiveShare(path: string, share: ActiveModel, storage?: Storage): Promise<void> {
  return writeSealed(path, activeKind, share, storage);
}

export function writePassiveShare(path: string, share: PassiveShare, storage?: Storage): Promise<void> {
  return writeSealed(path, passiveKind, share, storage);
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readActiveShare(path: string): Promise<ActiveModel> {
  return present(path, await readSealed(path, activeKind));
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readPassiveShare(path: string): Promise<PassiveShare> {
  return present(path, await readSealed(path, passiveKind));
}

function present<T>(path: string, share: T | null): T {
  if (share === null) throw new TandemError("FILE_UNREADABLE", `${path}: the model share cannot be read`);
  return share;
}
