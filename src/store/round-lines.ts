/**
 * Rounds that were appended to the active party's checkpoint since it was last written as a whole: their trees, and the
 * leaf of each instance. Margins are recomputed by the same additions, bit for bit. A line takes at most an eighth of
 * the space of the margins.
 */
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { addLeafWeights } from "../gbdt/boost/train.ts";
import { narrow, narrowBytes } from "../gbdt/tree/narrow-leaves.ts";
import type { ActiveProgress, StoredRound } from "../protocol/active/role.ts";
import { dartFrom, type dartSchema, leavesFrom, storedWeights } from "./dart-checkpoint.ts";
import { appendSealedText, type SealedKind } from "./sealed-file.ts";
import { treeSchema } from "./share-files.ts";
import { storedJson, storedList } from "./stored-json.ts";
import { doublesFrom, toBase64 } from "./stored-numbers.ts";

/** The best round on the validation rows: its value as a base64 float64, and all metrics where they are used. */
export const bestSchema = z
  .strictObject({
    round: z.number().int().nonnegative(),
    value: z.base64(),
    metrics: z.base64().optional(),
    /** Booster dart only. */
    weights: z.base64().optional(),
  })
  .nullable();

export function storedBest(best: ActiveProgress["best"]): z.infer<typeof bestSchema> {
  if (best === null) return null;
  const value = toBase64(Float64Array.of(best.value));
  return {
    round: best.round,
    value,
    ...(best.metrics && { metrics: toBase64(best.metrics) }),
    ...(best.treeWeights && { weights: storedWeights(best.treeWeights) }),
  };
}

export function bestFrom(stored: z.infer<typeof bestSchema>): ActiveProgress["best"] {
  if (stored === null) return null;
  const { round, value, metrics, weights } = stored;
  return {
    round,
    value: doublesFrom(value)[0],
    ...(metrics === undefined ? {} : { metrics: doublesFrom(metrics) }),
    ...(weights === undefined ? {} : { treeWeights: [...doublesFrom(weights)] }),
  };
}

const contents = z.strictObject({
  /** The job id. */
  run: z.base64(),
  /** The number of earlier trees. */
  before: z.number().int().nonnegative(),
  trees: z.array(treeSchema),
  /** Per tree a number per instance, with as many bytes as the tree's size needs. */
  leaves: z.array(z.base64()),
  best: bestSchema,
  /** Booster dart: the weights of all trees of finished boosting rounds. */
  weights: z.base64().optional(),
});
export type RoundLine = z.infer<typeof contents>;

export const roundLineKind: SealedKind<RoundLine> = {
  format: "tandem-active-round/1",
  name: "round",
  noun: "a round of a checkpoint",
  schema: contents,
  code: "CHECKPOINT",
  advice: "Restore the file, or remove it and start again under another name",
};

export async function addRoundLine(
  path: string,
  jobId: Uint8Array,
  { trees, best, dart }: ActiveProgress,
  round: StoredRound,
  storage: Storage,
): Promise<void> {
  const leaves = round.leaves.map((ofTree, i) => toBase64(narrow(ofTree, round.trees[i].length)));
  const line: Omit<RoundLine, "trees"> = {
    run: toBase64(jobId),
    before: trees.length - round.trees.length,
    leaves,
    best: storedBest(best),
    ...(dart === undefined ? {} : { weights: storedWeights(dart.weights) }),
  };
  const text = `${storedJson(line).slice(0, -1)},"trees":${storedList(round.trees)}}`;
  await appendSealedText(path, roundLineKind, text, storage);
}

/** The approximate length of a round's line. */
export function lineBytes({ trees, leaves }: StoredRound): number {
  return leaves.reduce((sum, ofTree, i) => sum + (4 / 3) * narrowBytes(trees[i].length) * ofTree.length, 0);
}

/**
 * The contents of a checkpoint with its appended rounds; a boosting round in progress ends with the first.
 * @throws TandemError CHECKPOINT if a round is inconsistent
 */
export function withRounds(
  progress: ActiveProgress,
  run: string,
  lines: readonly RoundLine[],
  path: string,
): ActiveProgress {
  if (lines.length === 0) return progress;
  const trees = [...progress.trees];
  const margins = progress.margins.slice();
  let { best } = progress;
  for (const line of lines) {
    checkFollows(line, run, trees.length, path);
    line.trees.forEach((tree, i) => {
      const leaves = leavesFrom(line.leaves[i], tree, () => wrong(path));
      const outputCount = margins.length / leaves.length;
      if (!Number.isInteger(outputCount)) throw wrong(path);
      addLeafWeights(margins, outputCount, trees.length, tree, leaves);
      trees.push(tree);
    });
    best = bestFrom(line.best);
  }
  return { trees, margins, best };
}

/**
 * The same for booster dart: the leaves of all trees are concatenated, and the last weights are used.
 * @param start the initial margins
 */
export function withDartRounds(
  head: Pick<ActiveProgress, "trees" | "best"> & { readonly dart: z.infer<typeof dartSchema> },
  start: Float64Array,
  run: string,
  lines: readonly RoundLine[],
  path: string,
): ActiveProgress {
  const trees = [...head.trees];
  const leaves = [...head.dart.leaves];
  let { weights } = head.dart;
  let { best } = head;
  for (const line of lines) {
    checkFollows(line, run, trees.length, path);
    trees.push(...line.trees);
    leaves.push(...line.leaves);
    best = bestFrom(line.best);
    weights = line.weights ?? weights;
  }
  return { trees, best, ...dartFrom({ leaves, weights }, trees, start, () => wrong(path)) };
}

function checkFollows(line: RoundLine, run: string, before: number, path: string): void {
  if (line.run !== run || line.before !== before || line.leaves.length !== line.trees.length) throw wrong(path);
}

function wrong(path: string): TandemError {
  return new TandemError("CHECKPOINT", `${path} has rounds that do not follow each other. ${roundLineKind.advice}`);
}
