/** What the commands of one company have in common: its config, and its life under a supervisor. */
import { Command, Option } from "commander";
import { TandemError } from "../base/error.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import type { Emit } from "../record/events.ts";

export interface CompanyFlags {
  readonly config: string;
  readonly supervised?: boolean;
}

export function companyCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("-c, --config <file>", "the party's config, as 'tandem init' writes it")
    .addOption(new Option("--supervised", "speak in events, serve one job, end when standard input closes").hideHelp());
}

/** @param jobFor the job's name where the config has none, from the folder of jobs */
export async function activeConfig(
  path: string,
  jobFor: (directory: string) => string | null = () => null,
): Promise<ActiveConfig> {
  const [{ readActiveConfig }, { newJobName }] = await Promise.all([
    import("../party/config/config.ts"),
    import("../party/active/checkpoints.ts"),
  ]);
  return readActiveConfig(path, (directory) => jobFor(directory) ?? newJobName(new Date()));
}

/** Speaks in events, one JSON a line, for the process that has started this one. */
export async function supervised(name: string, run: (emit: Emit) => Promise<void>): Promise<void> {
  const emit: Emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
  // A supervisor that is gone cannot stop us: its end of our standard input is the sign of life.
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
