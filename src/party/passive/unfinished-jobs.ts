/**
 * The disk that an active party's unfinished jobs and alignments use here. New ones are refused when there are too
 * many; a stored one may always be resumed. None is removed: a repeated request needs its stored answers, a dispute its
 * signed evidence, and a removed job could be requested anew with fresh noise. The owner removes folders by hand.
 */
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { readAlignment, readPassiveJob, sharePath } from "../../store/passive-checkpoint.ts";
import type { PassiveFiles } from "./passive-files.ts";

export interface Unfinished {
  readonly jobs: number;
  readonly bytes: number;
}

const megabyte = 1 << 20;

/**
 * @param job the requested one, which does not count
 * @param live names of the partner's jobs under way, of which nothing may be stored yet
 * @throws TandemError POLICY if the partner has too many unfinished jobs, or they use too much disk
 */
export async function refuseUnfinished(
  files: PassiveFiles,
  active: string,
  job: string,
  live: readonly string[] = [],
): Promise<void> {
  const { name, policy, output } = files.config;
  const { jobs, bytes } = await files.using(() => unfinishedOf(output.directory, active, job, files.storage, live));
  const broken = [
    ...(jobs < policy.max_unfinished_jobs
      ? []
      : [`max_unfinished_jobs: ${jobs} of this partner are stored, at most ${policy.max_unfinished_jobs} allowed`]),
    ...(bytes < policy.max_unfinished_megabytes * megabyte
      ? []
      : [
          `max_unfinished_megabytes: its unfinished jobs use ${Math.floor(bytes / megabyte)}, ` +
            `at most ${policy.max_unfinished_megabytes} allowed`,
        ]),
  ];
  if (broken.length === 0) return;
  const words = `${broken.join("; ")}. Remove folders of jobs that will not be resumed from the output directory`;
  files.emit({ type: "alarm", party: name, peer: active, words });
  throw new TandemError(
    "POLICY",
    `the policy of ${name} does not allow another job: ${broken.join("; ")}. ` +
      "Finish the earlier jobs, or ask its owner to remove them",
  );
}

/** Jobs and alignments of a partner without a share of a model, except one. */
export async function unfinishedOf(
  directory: string,
  active: string,
  except: string,
  storage: Storage,
  live: readonly string[] = [],
): Promise<Unfinished> {
  let bytes = 0;
  const jobs = new Set(live.filter((name) => name !== except));
  for (const { name, isFolder } of await storage.list(directory)) {
    if (!isFolder || name.startsWith(".") || name === except) continue;
    const folder = join(directory, name);
    const entries = await storage.list(folder);
    if (entries.some((entry) => join(folder, entry.name) === sharePath(folder))) continue;
    if ((await ownerOf(folder, storage)) !== active) continue;
    jobs.add(name);
    bytes += await sizeOf(folder, storage);
  }
  return { jobs: jobs.size, bytes };
}

/** Null for a folder that is not an unfinished job's, and for one whose files are damaged: no partner can add to it. */
async function ownerOf(folder: string, storage: Storage): Promise<string | null> {
  try {
    const job = await readPassiveJob(folder, storage);
    if (job?.secret === null) return null; // a vetting, which has ended and has no share
    return (job ?? (await readAlignment(folder, storage)))?.active ?? null;
  } catch (error) {
    if (error instanceof TandemError && error.code === "CHECKPOINT") return null;
    throw error;
  }
}

async function sizeOf(folder: string, storage: Storage): Promise<number> {
  let total = 0;
  for (const { name, isFolder } of await storage.list(folder)) {
    const path = join(folder, name);
    total += isFolder ? await sizeOf(path, storage) : await storage.size(path);
  }
  return total;
}
