/** What stands below the options in `--help`. */
import type { Command } from "commander";

export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}
