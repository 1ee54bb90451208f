/** Additions to `--help`: examples, and marks of required options. */
import { type Command, Help, type Option } from "commander";

export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

/** Marks required options, of subcommands too. */
export function markRequired(command: Command): Command {
  command.configureHelp({
    optionDescription(this: Help, option: Option): string {
      const text = Help.prototype.optionDescription.call(this, option);
      return option.mandatory ? `${text} (required)` : text;
    },
  });
  for (const each of command.commands) markRequired(each);
  return command;
}
