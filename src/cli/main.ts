/** The command `tandem`: runs one command, and turns errors into one line and an exit code. */
import { CommanderError } from "commander";
import { runCommand } from "./program.ts";
import { reportError } from "./terminal/failure.ts";

// Output whose reader has ended, as after `| head`, is left out: the command continues, and ends as it would.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

// The bundle is CommonJS, which starts faster but has no top-level await.
runCommand(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0); // --help and --version
  process.exitCode = reportError(error);
});
