/** Reports a failed command: one line with what is wrong and what to do, no stack. */
import { CommanderError } from "commander";
import { TandemError } from "../../base/error.ts";

/** Prints the error and returns the exit code: 2 for errors of input or environment, 1 for internal errors. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return 2; // a bare `tandem` has already printed its help
  if (error instanceof TandemError && error.code !== "INTERNAL") {
    process.stderr.write(`error: ${error.message} (${error.code})\n`);
    return 2;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`internal error: ${message}; please report this\n`);
  if (process.env["TANDEM_DEBUG"] !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return 1;
}
