/**
 * What each party keeps of a trained model (docs/models.md). The active party's share has the shape of the trees, its own
 * splits and the leaf weights; a passive party's has its own splits and nothing else. No share reveals another party's
 * feature or threshold, and none holds a time, something random or a candidate id: the same training gives the same bytes.
 *
 * A file is one JSON object on one line: { "format", "sha256", "share" }, where sha256 is over the text of `share`.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { assert } from "../base/assert.ts";
import { writeFileAtomically } from "../base/atomic-file.ts";
import { TandemError } from "../base/error.ts";
import { trainingParameters } from "../base/parameters.ts";
import type { ActiveModel } from "../protocol/active-role.ts";
import type { OwnSplit } from "../protocol/passive-role.ts";

const activeFormat = "tandem-active-share/2";
const passiveFormat = "tandem-passive-share/2";
const earlier = /^tandem-(active|passive)-share\/1$/;

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
  z.strictObject({ kind: z.literal("leaf"), weight: z.number(), weights: z.array(z.number()).optional(), cover: z.number(), count: index }),
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
const tree = z
  .array(node)
  .nonempty()
  .refine((nodes) => nodes.every((at, id) => at.kind === "leaf" || [at.left, at.right].every((child) => child > id && child < nodes.length)), {
    message: "a node's children do not come after it",
  });
/** What both kinds of share begin with: whose it is, the job's name, and the model that it is a share of. */
const origin = { name: z.string(), job: z.string(), model: z.string().regex(/^[0-9a-f]{64}$/, "a model id has 64 hex digits") };
const activeShare = z
  .strictObject({
    ...origin,
    objective: z.enum(trainingParameters.objective.choices),
    baseMargin: z.number(),
    outputCount: index.min(2).optional(),
    passiveNames: z.array(z.string()),
    trees: z.array(tree),
  })
  .refine(({ outputCount = 1, trees }) => trees.flat().every((at) => at.kind === "split" || at.weights === undefined || at.weights.length === outputCount), {
    message: "a leaf has another number of weights than the model has outputs",
  })
  .refine(({ passiveNames, trees }) => trees.flat().every((at) => at.kind === "leaf" || at.rule.owner <= passiveNames.length), {
    message: "a split belongs to a party that is not named",
  });
export const passiveShareSchema = z.strictObject({
  ...origin,
  active: z.string(),
  splits: z.array(
    z.strictObject({ tree: index, node: index, feature: index, featureName: z.string(), threshold: z.number(), defaultLeft: z.boolean() }),
  ),
});

interface ShareOrigin {
  /** The party whose share it is, by its own config. */
  readonly name: string;
  readonly job: string;
  /** From protocol/model-id.ts: all shares of a model have the same. */
  readonly model: string;
}

export interface ActiveShare extends ShareOrigin, ActiveModel {}

export interface PassiveShare extends ShareOrigin {
  /** The active party, by the name under which this party has pinned it. */
  readonly active: string;
  readonly splits: readonly OwnSplit[];
}

export function writeActiveShare(path: string, share: ActiveShare): Promise<void> {
  return writeShare(path, activeFormat, share);
}

export function writePassiveShare(path: string, share: PassiveShare): Promise<void> {
  return writeShare(path, passiveFormat, share);
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readActiveShare(path: string): Promise<ActiveShare> {
  return parsed(path, activeShare, shareOf(await readEnvelope(path), activeFormat));
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readPassiveShare(path: string): Promise<PassiveShare> {
  return parsed(path, passiveShareSchema, shareOf(await readEnvelope(path), passiveFormat));
}

/** A share of either kind, whoever's it is. @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readShare(path: string): Promise<{ readonly kind: "active"; readonly share: ActiveShare } | { readonly kind: "passive"; readonly share: PassiveShare }> {
  const envelope = await readEnvelope(path);
  if (envelope.format === passiveFormat) return { kind: "passive", share: parsed(path, passiveShareSchema, envelope.share) };
  return { kind: "active", share: parsed(path, activeShare, shareOf(envelope, activeFormat)) };
}

async function writeShare(path: string, format: string, share: unknown): Promise<void> {
  const text = JSON.stringify(share, (_key, value: unknown) => {
    // JSON would turn these into null and 0: the share would not be the model that was trained.
    assert(typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0)), "a share's numbers survive JSON");
    return value;
  });
  await writeFileAtomically(path, `{"format":"${format}","sha256":"${sha256(text)}","share":${text}}\n`, 0o600);
}

interface Envelope {
  readonly path: string;
  readonly format: string;
  readonly share: unknown;
}

async function readEnvelope(path: string): Promise<Envelope> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new TandemError("FILE_UNREADABLE", `${path}: the model share cannot be read`, { cause });
  }
  const envelope = /^\{"format":"([^"]*)","sha256":"([0-9a-f]{64})","share":(.*)\}\n$/s.exec(text);
  if (envelope === null) throw new TandemError("FILE_FORMAT", `${path} is not a model share`);
  const [, format, checksum, share] = envelope;
  if (sha256(share) !== checksum) throw new TandemError("FILE_FORMAT", `${path} is damaged: its checksum does not match`);
  return { path, format, share: JSON.parse(share) };
}

function shareOf({ path, format, share }: Envelope, wanted: string): unknown {
  if (format === wanted) return share;
  const advice = earlier.test(format) ? ". It is a share of an earlier version of Tandem, without the model's id: train again" : "";
  throw new TandemError("FILE_FORMAT", `${path} has the format ${format}; ${wanted} was expected${advice}`);
}

/** What a file holds, once its schema has agreed. @throws TandemError FILE_FORMAT naming the file and the first field that is wrong */
export function parsed<T>(path: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new TandemError("FILE_FORMAT", `${path}: ${z.prettifyError(result.error).split("\n")[0]}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
