/**
 * What `tandem simulate --json` prints, with the parties in the test's own process: the same options, configs, folders
 * and TLS, at a tenth of the CPU time. Processes are tested with the command itself.
 */
import { Command } from "commander";
import { addJobOptions, type JobFlags, jobFrom } from "../../src/cli/table/job-options.ts";
import { toSchemeFacts } from "../../src/cli/scheme-options.ts";
import { type JobSummary, summarise } from "../../src/cli/terminal/summary.ts";
import type { ContributionRow } from "../../src/simulate/comparison.ts";
import { simulate } from "../../src/simulate/simulate.ts";
import { superviseInProcess } from "../world/in-process-parties.ts";

interface Flags extends JobFlags {
  readonly predictions?: string;
  readonly check?: boolean;
  readonly contribution?: boolean;
}

export type SimulatedJob = JobSummary & { readonly contribution: readonly ContributionRow[] | null };

export async function simulateInProcess(...args: string[]): Promise<SimulatedJob> {
  const command = addJobOptions(new Command())
    .option("--predictions <file>")
    .option("--check")
    .option("--contribution")
    .option("--quiet")
    .option("--json")
    .exitOverride();
  const flags = command.parse(args, { from: "user" }).opts<Flags>();
  const { predictions, check = false, contribution = false } = flags;
  const options = { ...jobFrom(flags), predictions, check, contribution, onEvent: () => {} };
  const result = await simulate(options, superviseInProcess);
  const identical = result.difference === null ? null : result.difference === "";
  return { ...summarise(result, toSchemeFacts(result.job), identical), contribution: result.contribution };
}
