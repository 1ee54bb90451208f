/** Reports a failed command: one line with what is wrong and what to do, no stack. */
import { CommanderError } from "commander";
import { TandemError } from "../../base/error.ts";

/** Prints the error and returns the exit code: 2 for errors of input or environment, 1 for internal errors. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return 2; // a bare `tandem` has already printed its help
  if (error instanceof TandemError && error.code !== "INTERNAL") {
    console.error(`error: ${error.message} (${error.code})`);
    return 2;
  }
  console.error(`internal error: ${error instanceof Error ? error.message : String(error)}; please report this`);
  if (process.env["TANDEM_DEBUG"] !== undefined && error instanceof Error) console.error(error.stack);
  return 1;
}
