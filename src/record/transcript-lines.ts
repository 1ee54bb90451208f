/**
 * The lines of transcript.jsonl, each declared once. Bitmaps and arrays are base64. Numbers are bounded, since arrays
 * are allocated from them: as many instances as PSI allows, bins of 16 bits, trees as deep as XGBoost's node numbers
 * allow.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { count, countUpTo, flag, isLineOf, number, role, text } from "./fields.ts";

export const transcriptFormat = "tandem-transcript/1";

const people = countUpTo(2 ** 26);
const node = countUpTo(2 ** 31);
const tree = countUpTo(2 ** 31);

/** One of a passive party's features, as it was binned. */
const keptColumn = z.object({
  name: text,
  binCount: countUpTo(2 ** 16),
  hasMissing: flag,
  /** Left out: false. */
  missingLeftLast: z.optional(flag),
  /** Of a categorical feature: whether it is split one-hot; null for numeric features. */
  oneHot: z.nullable(flag),
  monotone: z.int().check(z.minimum(-1), z.maximum(1)),
  /** Per instance of the job, 16-bit numbers. */
  bins: text,
});

const kinds = {
  job: z.object({
    kind: z.literal("job"),
    format: z.literal(transcriptFormat),
    party: text,
    role,
    job: text,
    people,
    depthMax: countUpTo(64),
    /** Pairs of g and h. */
    outputs: countUpTo(2 ** 16),
    answerNoise: number,
    resolutionBits: number,
    maskedScoring: flag,
    /** No columns are sampled. */
    takesAllColumns: flag,
    /** Node membership was hidden from passive parties; left out: it was not. */
    hidesMembers: z.exactOptional(flag),
    /** Sums were hidden, and at most one candidate of each node opened; left out: they were not. */
    hidesSums: z.exactOptional(flag),
  }),
  columns: z.object({ kind: z.literal("columns"), columns: z.array(keptColumn) }),
  tree: z.object({ kind: z.literal("tree"), peer: text, tree, sampled: text }),
  node: z.object({
    kind: z.literal("node"),
    peer: text,
    tree,
    node,
    /** Both are 0 for the root. */
    parent: node,
    sibling: node,
    /** Bitmap over the parent's members; empty for the root. */
    members: text,
  }),
  /** Where members are hidden: a node whose sums were requested. */
  asked: z.object({ kind: z.literal("asked"), peer: text, tree, node }),
  /** A split that a passive party won in training: over the node's members, or all instances where they are hidden. */
  outcome: z.object({ kind: z.literal("outcome"), peer: text, tree, node, left: text }),
  /** At a passive party, at the end: its splits of the model, per bin of the feature 1 if it goes left. */
  split: z.object({ kind: z.literal("split"), tree, node, feature: count, left: text }),
  /** At the active party: per instance its label, and the score of the finished model. */
  people: z.object({ kind: z.literal("people"), labels: text, scores: text }),
};

export type KeptColumn = Immutable<z.infer<typeof keptColumn>>;
export type TranscriptLine = Immutable<z.infer<(typeof kinds)[keyof typeof kinds]>>;

export function isTranscriptLine(line: unknown): line is TranscriptLine {
  return isLineOf(kinds, "kind", line);
}
