/**
 * The `tandem` command in the test's own process, with its real command line, output and exit code, and the parties of
 * simulations in this process as well: a tenth of the CPU time. Signals, memory and how a process ends are tested with
 * test/world/tandem-process.ts.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { CommanderError } from "commander";
import { runCommand } from "../../src/cli/program.ts";
import { reportError } from "../../src/cli/terminal/failure.ts";
import { superviseInProcess } from "./in-process-parties.ts";
import type { ProcessEnd } from "./tandem-process.ts";

interface Output {
  stdout: string;
  stderr: string;
}

/** The command that writes: several may run at the same time. */
const writing = new AsyncLocalStorage<Output>();
/** All that run. What a server of a party writes for a connection has no context: it belongs to the last one. */
const running: Output[] = [];

for (const name of ["stdout", "stderr"] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  const captured = (text: string | Uint8Array, ...rest: unknown[]): boolean => {
    const output = writing.getStore() ?? running.at(-1);
    if (output === undefined) return write(text, ...rest);
    output[name] += typeof text === "string" ? text : Buffer.from(text).toString();
    return true;
  };
  stream.write = captured;
}

export function tandemHere(...args: string[]): Promise<ProcessEnd> {
  const output: Output = { stdout: "", stderr: "" };
  running.push(output);
  return writing.run(output, async () => {
    let exitCode = 0;
    try {
      await runCommand(args, superviseInProcess);
      exitCode = Number(process.exitCode ?? 0);
    } catch (error) {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) exitCode = reportError(error);
    } finally {
      process.exitCode = 0;
      running.splice(running.indexOf(output), 1);
    }
    return { exitCode, signal: null, ...output };
  });
}
