/** The command `tandem`: parses the command line, runs one command, and turns errors into one line and an exit code. */
import { Command, CommanderError } from "commander";
import { programVersion } from "../base/program-version.ts";
import { alignCommand } from "./align.ts";
import { benchCommand } from "./bench.ts";
import { cvCommand } from "./cv.ts";
import { dashboardCommand } from "./dashboard.ts";
import { demoCommand } from "./demo.ts";
import { estimateCommand } from "./estimate.ts";
import { reportError } from "./failure.ts";
import { fingerprintCommand, initCommand } from "./init.ts";
import { modelCommand } from "./model.ts";
import { partyCommand } from "./party.ts";
import { predictCommand } from "./predict.ts";
import { reportCommand } from "./report.ts";
import { reproduceCommand } from "./reproduce.ts";
import { serveCommand } from "./serve.ts";
import { simulateCommand } from "./simulate.ts";
import { trainCommand } from "./train.ts";

async function main(): Promise<void> {
  const program = new Command("tandem")
    .description("Vertical federated XGBoost: companies train one model together, and nobody shows a row.")
    .version(programVersion())
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const groups: Readonly<Record<string, readonly Command[]>> = {
    "Try it on one machine:": [demoCommand(), simulateCommand(), cvCommand(), estimateCommand()],
    "Train between companies:": [initCommand(), fingerprintCommand(), partyCommand(), trainCommand(), alignCommand()],
    "Use a model:": [predictCommand(), serveCommand(), modelCommand()],
    "Look at runs:": [reportCommand(), dashboardCommand()],
    "Measure:": [benchCommand(), reproduceCommand()],
  };
  for (const [heading, commands] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const command of commands)
      program.addCommand(command.exitOverride().configureOutput({ outputError: () => {} }));
  }
  await program.parseAsync();
}

try {
  await main();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0); // --help and --version
  process.exitCode = reportError(error);
}
