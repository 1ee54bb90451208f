/** `tandem model show`: a share as its owner may see it, as text, dot or JSON. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import type { ActiveShare, PassiveShare } from "../../store/share-files.ts";
import { drawDot, drawText, ruleText } from "./draw-tree.ts";
import { readableSummary, shortNumber, summariseActive, summarisePassive } from "./model-summary.ts";
import type { ShowFormat } from "../model/show-format.ts";

/** A job's folder stands for the share in it. @throws TandemError FILE_UNREADABLE if there is neither */
export async function sharePathOf(path: string): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? join(path, "share.json") : path;
  } catch (cause) {
    throw new TandemError("FILE_UNREADABLE", `${path}: there is no such file or folder`, { cause });
  }
}

/** @param tree the first unless given */
export function showActive(share: ActiveShare, format: ShowFormat, tree = 0): string {
  const count = share.trees.length;
  if (tree >= count) throw new TandemError("USAGE", `--tree: the model has trees 0 to ${count - 1}; got ${tree}`);
  const drawing = { tree: share.trees[tree], partyNames: [share.name, ...share.passiveNames] };
  const summary = summariseActive(share);
  const weight = share.treeWeights?.[tree];
  switch (format) {
    case "dot":
      return drawDot(drawing, tree);
    case "json":
      return JSON.stringify({ ...summary, tree, ...(weight === undefined ? {} : { weight }), nodes: drawing.tree });
    case "text":
      return [
        readableSummary(summary),
        "",
        `  ${treeTitle(tree, count)}${weightText(weight)}; yes is the upper branch, ▣ is another party's split`,
        "",
        drawText(drawing),
      ].join("\n");
  }
}

function treeTitle(tree: number, count: number): string {
  return count > 1 ? `tree ${tree}, of the trees 0 to ${count - 1}` : `tree ${tree}`;
}

/** Leaves are shown without the tree's weight, as in XGBoost's dumps of dart. */
function weightText(weight: number | undefined): string {
  return weight === undefined ? "" : `, weight ${shortNumber(weight)}: multiply its leaves by this`;
}

/** @param tree all trees unless given: a passive party knows its own splits, but not the shape of a tree */
export function showPassive(share: PassiveShare, format: ShowFormat, tree?: number): string {
  const splits = share.splits
    .filter((split) => tree === undefined || split.tree === tree)
    .toSorted((a, b) => a.tree - b.tree || a.node - b.node);
  const summary = summarisePassive(share);
  switch (format) {
    case "dot":
      throw new TandemError(
        "USAGE",
        "--format dot: a passive party does not know the shape of a tree; use text or json",
      );
    case "json":
      return JSON.stringify({ ...summary, ...(tree === undefined ? {} : { tree }), nodes: splits });
    case "text": {
      const where = tree === undefined ? "" : ` of tree ${tree}`;
      const title = `  own splits${where}, as tree/node${splits.length === 0 ? ": none" : ""}`;
      return [
        readableSummary(summary),
        "",
        title,
        ...splits.map((split) => `  ${`${split.tree}/${split.node}`.padEnd(8)}  ${ruleText(split)}`),
      ].join("\n");
    }
  }
}
