/** Turns errors of the command line parser into TandemError USAGE: one line, with a code. */
import type { Command, CommanderError } from "commander";
import { TandemError } from "../../base/error.ts";
import { didYouMean } from "../../base/text/nearest-name.ts";
import { codecParameters } from "../../base/parameters/parameters.ts";
import { privacyParameters } from "../../privacy/defences/defences.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";

/** Options whose value is a list of columns: an excess argument after one is often one more column. */
const columnOptions = ["--active", "--passive", "--categorical"];

const configBlocks = {
  training: trainingParameters,
  codec: codecParameters,
  privacy: privacyParameters,
};

const ofExperiments = "only experiments in a clone of the repository use it (tandem reproduce)";

/** Options of earlier versions, and what to do about each. */
const removedOptions: Readonly<Record<string, string>> = {
  "--runs": "use --records",
  "--rounds": "use --batches, or --repeats of bench",
  ...Object.fromEntries(
    ["no-packing", "no-subtraction", "no-joint-bins", "no-skip-bin", "encryption"]
      .concat(["codec", "layout", "shift", "codec-alpha", "alpha-max", "r", "padding"])
      .map((name) => [`--${name}`, ofExperiments]),
  ),
};

/** Makes a command and its subcommands throw TandemError USAGE for parser errors. */
export function throwUsageErrors(command: Command, line: readonly string[]): Command {
  command.configureOutput({ outputError: () => {} }).exitOverride((error) => {
    // Help and version are not errors; help shown for a missing command has been printed.
    if (error.exitCode === 0 || error.code === "commander.help") throw error;
    const path = pathOf(meantCommand(error, command, line));
    throw new TandemError("USAGE", `${complaint(error, command, line)} Try '${path} --help'`, { cause: error });
  });
  for (const each of command.commands) throwUsageErrors(each, line);
  return command;
}

/** A full sentence or a question. */
function complaint(error: CommanderError, command: Command, line: readonly string[]): string {
  const said = error.code === "commander.excessArguments" ? excess(command, line) : parserMessage(error.message);
  const hint = error.code === "commander.unknownOption" ? optionHint(error, command, line) : "";
  return `${/[.?]$/.test(said) ? said : `${said}.`}${hint}`;
}

/** Suggests what an unknown option may mean: a field of the config, or an option of the command that follows. */
function optionHint(error: CommanderError, command: Command, line: readonly string[]): string {
  if (meantCommand(error, command, line) !== command) return " Put options after the name of the command.";
  const option = /'(--[\w-]+)/.exec(error.message)?.[1] ?? "";
  if (Object.hasOwn(removedOptions, option)) return ` It was removed: ${removedOptions[option]}.`;
  const name = option.slice(2).replaceAll("-", "_");
  const hasConfig = command.options.some(({ long }) => long === "--config");
  const block = Object.entries(configBlocks).find(([, table]) => Object.hasOwn(table, name));
  const field = block?.[0] === name ? name : `${block?.[0]}.${name}`; // a preset is the block itself
  return hasConfig && block !== undefined ? ` Set it in the config: ${field}.` : "";
}

/** The parser assigns an option before the command's name to the program. */
function meantCommand({ code }: CommanderError, command: Command, line: readonly string[]): Command {
  if (code !== "commander.unknownOption" || command.parent !== null) return command;
  return command.commands.find((each) => line.slice(1).includes(each.name())) ?? command;
}

function parserMessage(message: string): string {
  const text = message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?");
  const [, value, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/.exec(text) ?? [];
  return choices === undefined ? text : text.replace(/\.$/, didYouMean(value, choices.split(", ")) || ".");
}

function excess({ args, registeredArguments }: Command, line: readonly string[]): string {
  const [word] = args.slice(registeredArguments.length);
  const [option, value] = line.slice(0, line.lastIndexOf(word)).slice(-2);
  const hint = columnOptions.includes(option) ? `; separate columns by commas: ${option} ${value},${word}` : "";
  return `'${word}' belongs to no option${hint}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
