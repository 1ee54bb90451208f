/** The active party's share that a command names: in its registry, by job, by the model's id, or by where it lies. */
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { type ActiveShare, readActiveShare } from "../../store/share-files.ts";
import { didYouMean } from "../../base/text/nearest-name.ts";
import { jobSyntax } from "../../base/job-name.ts";
import type { ActiveConfig } from "../config/config.ts";
import { readReference } from "./registered-share.ts";
import { referenceFrom } from "./registry.ts";

const modelIdSyntax = /^[0-9a-f]{64}$/;

/** @throws TandemError MODEL_UNKNOWN naming where it was looked for, or what readActiveShare throws */
export async function findActiveShare(named: string, { output }: Pick<ActiveConfig, "output">): Promise<ActiveShare> {
  const reference = referenceFrom(named);
  if (reference !== null) return readReference(output.directory, reference);
  const places = [
    ...(jobSyntax.test(named) ? [join(output.directory, named, "share.json")] : []),
    join(named, "share.json"),
    named,
  ];
  for (const path of places) {
    const isShare =
      path.endsWith("share.json") &&
      (await access(path).then(
        () => true,
        () => false,
      ));
    if (isShare) return readActiveShare(path);
  }
  const known = modelIdSyntax.test(named) ? await shareOfModel(named, output.directory) : null;
  if (known !== null) return known;
  throw new TandemError(
    "MODEL_UNKNOWN",
    `there is no model '${named}': neither a finished job in ${output.directory} nor a folder with a share.json` +
      didYouMean(named, await jobsIn(output.directory)),
  );
}

/** Finished or not: a name is only proposed. */
async function jobsIn(directory: string): Promise<string[]> {
  return (await readdir(directory).catch((): string[] => [])).toSorted();
}

/** Looks through the finished jobs. A share that cannot be read is not the one. */
async function shareOfModel(model: string, directory: string): Promise<ActiveShare | null> {
  for (const job of await jobsIn(directory)) {
    const share = await readActiveShare(join(directory, job, "share.json")).catch(() => null);
    if (share?.model === model) return share;
  }
  return null;
}
