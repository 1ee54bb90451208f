/** The start model: that of an earlier simulation. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { PartyTable } from "../data/dataset.ts";
import type { Model } from "../gbdt/tree/model.ts";
import { splitsOver, startFrom } from "../party/model/start-model.ts";
import { mergeShares } from "../store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../store/share-files.ts";
import type { SimulateOptions } from "./simulate-options.ts";

/**
 * @returns the merged model over the columns of this simulation
 * @throws TandemError if it does not exist, or does not match this simulation
 */
export async function keptModel(
  job: string,
  keep: SimulateOptions["keep"],
  [active, ...passives]: readonly string[],
  [activeTable, ...tables]: readonly PartyTable[],
): Promise<Model> {
  if (keep === undefined)
    throw new TandemError("USAGE", "--warm-start needs --records, the folder that keeps the earlier simulation");
  const shareOf = (name: string, of = job): string => join(keep.directory, name, of, "share.json");
  if (!existsSync(shareOf(active))) {
    const jobs = await readdir(join(keep.directory, active)).catch(() => []);
    const kept = jobs.filter((name) => existsSync(shareOf(active, name))).toSorted();
    throw new TandemError(
      "MODEL_UNKNOWN",
      `there is no simulation '${job}' in ${keep.directory}${suggestion(job, kept.toReversed())}`,
    );
  }
  const share = await readActiveShare(shareOf(active));
  const shares = await Promise.all(
    passives.map(async (name, i) => {
      const { splits, ...rest } = await readPassiveShare(shareOf(name));
      return { ...rest, splits: splitsOver(splits, tables[i]) };
    }),
  );
  return mergeShares({ ...share, ...startFrom(share, passives, activeTable) }, shares);
}
