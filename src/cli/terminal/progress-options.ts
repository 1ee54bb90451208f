/** The options of progress. The views and the event schemas are loaded only when a command runs. */
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
    .option("--quiet", "print only the result");
}

/** @param activeName the party whose view is shown; left out: none */
export async function openProgress({ json, quiet }: ProgressFlags, activeName = ""): Promise<Progress> {
  const [{ Progress }, { standardErrorScreen }] = await Promise.all([
    import("./progress.ts"),
    import("./live-view.ts"),
  ]);
  const mode = quiet === true ? "quiet" : process.stderr.isTTY === true ? "live" : json === true ? "json" : "lines";
  return new Progress({ mode, activeName, screen: standardErrorScreen() });
}
