/** Where a job's share lies, and where something made of it may be written. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { jobSyntax } from "../../base/job-name.ts";

/** @throws TandemError USAGE if no job can have this name */
export function jobSharePath(directory: string, job: string): string {
  if (!jobSyntax.test(job))
    throw new TandemError(
      "USAGE",
      `--model takes the name of a job, as its folder in ${directory} has it; got '${job}'`,
    );
  return join(directory, job, "share.json");
}

/**
 * @throws TandemError FILE_UNWRITABLE: signed files and shares are not overwritten by a slip of the
 * pen
 */
export async function refuseExisting(path: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists)
    throw new TandemError(
      "FILE_UNWRITABLE",
      `${path} exists already. Name another file with --out, or remove it first`,
    );
}
