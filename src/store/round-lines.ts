/**
 * Rounds that were added to the active party's checkpoint since it was written whole: their trees, and at which node of
 * each every instance ends. Margins follow from these by the additions that made them, bit for bit. A line is an eighth
 * of what the margins are, or less.
 */
import { z } from "zod";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { addLeafWeights } from "../gbdt/boost/train.ts";
import type { ActiveProgress, StoredRound } from "../protocol/active/role.ts";
import { appendSealedText, type SealedKind } from "./sealed-file.ts";
import { treeSchema } from "./share-files.ts";
import { storedJson, storedList } from "./stored-json.ts";
import { bytesFrom, doublesFrom, textOf } from "./stored-numbers.ts";

/** The best round on the validation rows; its value, one float64, in base64, and where they count all metrics. */
export const bestSchema = z
  .strictObject({ round: z.number().int().nonnegative(), value: z.base64(), metrics: z.base64().optional() })
  .nullable();

export function storedBest(best: ActiveProgress["best"]): z.infer<typeof bestSchema> {
  if (best === null) return null;
  const value = textOf(Float64Array.of(best.value));
  return { round: best.round, value, ...(best.metrics && { metrics: textOf(best.metrics) }) };
}

export function bestFrom(stored: z.infer<typeof bestSchema>): ActiveProgress["best"] {
  if (stored === null) return null;
  const { round, value, metrics } = stored;
  return { round, value: doublesFrom(value)[0], ...(metrics === undefined ? {} : { metrics: doublesFrom(metrics) }) };
}

const contents = z.strictObject({
  /** The job id. */
  run: z.base64(),
  /** How many trees there were before. */
  before: z.number().int().nonnegative(),
  trees: z.array(treeSchema),
  /** Per tree a number per instance, of as many bytes as the tree's size needs. */
  leaves: z.array(z.base64()),
  best: bestSchema,
});
export type RoundLine = z.infer<typeof contents>;

export const roundLineKind: SealedKind<RoundLine> = {
  format: "tandem-active-round/1",
  name: "round",
  noun: "a round of a checkpoint",
  schema: contents,
  code: "CHECKPOINT",
  advice: "Put the file back as it was, or remove it and begin anew under another name",
};

export async function addRoundLine(
  path: string,
  jobId: Uint8Array,
  { trees, best }: ActiveProgress,
  round: StoredRound,
  storage: Storage,
): Promise<void> {
  const leaves = round.leaves.map((ofTree, i) => textOf(narrow(ofTree, round.trees[i].length)));
  const line: Omit<RoundLine, "trees"> = {
    run: textOf(jobId),
    before: trees.length - round.trees.length,
    leaves,
    best: storedBest(best),
  };
  const text = `${storedJson(line).slice(0, -1)},"trees":${storedList(round.trees)}}`;
  await appendSealedText(path, roundLineKind, text, storage);
}

/** How long the line of a round is, about. */
export function lineBytes({ trees, leaves }: StoredRound): number {
  return leaves.reduce((sum, ofTree, i) => sum + (4 / 3) * narrowBytes(trees[i].length) * ofTree.length, 0);
}

/**
 * What a checkpoint has with the rounds that were added to it; a layer that was under way has ended with the first.
 * @throws TandemError CHECKPOINT if one does not fit
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
    if (line.run !== run || line.before !== trees.length || line.leaves.length !== line.trees.length) throw wrong(path);
    line.trees.forEach((tree, i) => {
      const leaves = widened(bytesFrom(line.leaves[i]), tree.length);
      const outputCount = margins.length / leaves.length;
      const isLeaf = tree.map((node) => node.kind === "leaf");
      if (!Number.isInteger(outputCount) || leaves.some((leaf) => isLeaf[leaf] !== true)) throw wrong(path);
      addLeafWeights(margins, outputCount, trees.length, tree, leaves);
      trees.push(tree);
    });
    best = bestFrom(line.best);
  }
  return { trees, margins, best };
}

function wrong(path: string): TandemError {
  return new TandemError("CHECKPOINT", `${path} has rounds that do not follow each other. ${roundLineKind.advice}`);
}

/** @param treeSize decides how many bytes a number takes */
export function narrow(leaves: Uint32Array, treeSize: number): Uint8Array | Uint16Array | Uint32Array {
  const bytes = narrowBytes(treeSize);
  return bytes === 1 ? new Uint8Array(leaves) : bytes === 2 ? new Uint16Array(leaves) : leaves;
}

export function widened({ buffer, length }: Uint8Array, treeSize: number): Uint32Array {
  const bytes = narrowBytes(treeSize);
  const count = Math.floor(length / bytes);
  if (bytes === 4) return new Uint32Array(buffer, 0, count);
  return new Uint32Array(bytes === 1 ? new Uint8Array(buffer, 0, count) : new Uint16Array(buffer, 0, count));
}

/** How many bytes the number of a node takes. */
function narrowBytes(treeSize: number): 1 | 2 | 4 {
  if (treeSize <= 1 << 8) return 1;
  return treeSize <= 1 << 16 ? 2 : 4;
}
