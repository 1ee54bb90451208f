/** What the commands of one company share: the config option, and running under a supervisor. */
import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import type { Experiment } from "../../party/experiment.ts";
import type { Emit } from "../../record/events.ts";

export interface CompanyFlags {
  readonly config: string;
  readonly supervised?: boolean;
  readonly experiment?: string;
}

export function companyCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("-c, --config <file>", "the party's config, as 'tandem init' writes it")
    .addOption(
      new Option("--supervised", "print events as JSON, serve one job, end when standard input closes").hideHelp(),
    )
    .addOption(new Option("--experiment <file>", "JSON with what an experiment changes in this party").hideHelp());
}

/** @param jobFor returns the job's name if the config has none, from the folder of jobs */
export async function activeConfig(
  path: string,
  jobFor: (directory: string) => string | null = () => null,
  experiment: Experiment = {},
): Promise<ActiveConfig> {
  const [{ readActiveConfig }, { newJobName }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/active/checkpoints.ts"),
  ]);
  return readActiveConfig(path, (directory) => jobFor(directory) ?? newJobName(new Date()), experiment);
}

export async function readExperiment({ experiment: path }: CompanyFlags): Promise<Experiment> {
  return path === undefined ? {} : (JSON.parse(await readFile(path, "utf8")) as Experiment);
}

/** Prints events as lines of JSON for the parent process. */
export async function supervised(name: string, run: (emit: Emit) => Promise<void>): Promise<void> {
  const emit: Emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
  // A supervisor that has died cannot stop this process: the end of standard input does.
  process.stdin.on("end", () => process.exit(2)).resume();
  try {
    await run(emit);
  } catch (error) {
    const known =
      error instanceof TandemError
        ? error
        : new TandemError("INTERNAL", error instanceof Error ? (error.stack ?? error.message) : String(error));
    emit({ type: "error", party: name, code: known.code, message: known.message });
    process.exitCode = 2;
  }
  process.stdin.destroy();
}
