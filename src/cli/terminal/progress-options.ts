/** The options of progress; what shows it, with the schemas of events, is loaded when a command runs. */
import type { Command } from "commander";
import type { Progress } from "./progress.ts";

export interface ProgressFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export function addProgressOptions(command: Command): Command {
  return command
    .option(
      "--json",
      "print the result as one line of JSON, and events as such lines on standard error (unless a terminal)",
    )
    .option("--quiet", "say nothing but the result");
}

/** @param activeName whose point of view is shown; left out: nobody's */
export async function openProgress({ json, quiet }: ProgressFlags, activeName = ""): Promise<Progress> {
  const [{ Progress }, { standardErrorScreen }] = await Promise.all([
    import("./progress.ts"),
    import("./live-view.ts"),
  ]);
  const mode = quiet === true ? "quiet" : process.stderr.isTTY === true ? "live" : json === true ? "json" : "lines";
  return new Progress({ mode, activeName, screen: standardErrorScreen() });
}
