/** The path of a job's share. */
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
