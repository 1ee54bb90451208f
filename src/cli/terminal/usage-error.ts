/** What the parser of the command line complains about, as one of our own errors: one line, with a code. */
import type { Command, CommanderError } from "commander";
import { TandemError } from "../../base/error.ts";

/** Options whose value is a list of columns: after them a word too many is often one more column. */
const columnOptions = ["--active", "--passive", "--categorical"];

/** Lets a command and its subcommands throw TandemError USAGE for what the parser refuses. */
export function tellUsage(command: Command): Command {
  command.configureOutput({ outputError: () => {} }).exitOverride((error) => {
    // Help and version are no errors, and help that stands in for a command has been printed.
    if (error.exitCode === 0 || error.code === "commander.help") throw error;
    throw new TandemError("USAGE", `${complaint(error, command)} Try '${pathOf(command)} --help'`, { cause: error });
  });
  command.commands.forEach(tellUsage);
  return command;
}

/** A whole sentence, or a question. */
function complaint(error: CommanderError, command: Command): string {
  const said = error.code === "commander.excessArguments" ? excess(command) : parserWords(error.message);
  return /[.?]$/.test(said) ? said : `${said}.`;
}

function parserWords(message: string): string {
  return message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?");
}

function excess({ args, registeredArguments }: Command): string {
  const [word] = args.slice(registeredArguments.length);
  const [option, value] = process.argv.slice(0, process.argv.lastIndexOf(word)).slice(-2);
  const hint = columnOptions.includes(option) ? `; separate columns by commas: ${option} ${value},${word}` : "";
  return `'${word}' belongs to no option${hint}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
