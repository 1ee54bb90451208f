/** Runs the built `tandem` command as a user would, and collects what it says. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { SeededRandom } from "../../src/base/random.ts";

const bin = fileURLToPath(new URL("../../bin/tandem.js", import.meta.url));

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly process: ChildProcess;
  /** Settles with the text so far when standard error matches. */
  errorMatches(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<CommandResult>;
}

export function startTandem(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const finished = new Promise<CommandResult>((resolve) =>
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr })),
  );
  const errorMatches = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(stderr);
        if (match !== null) resolve(match);
      };
      child.stderr.on("data", look);
      void finished.then(() => reject(new Error(`the command ended before ${String(pattern)}: ${stderr}`)));
      look();
    });
  return { process: child, errorMatches, finished };
}

export function tandem(...args: string[]): Promise<CommandResult> {
  return startTandem(args).finished;
}

/** A directory that is gone after the test file. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tandem-test-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A table with an id, a label that its columns explain, six features and some missing cells. */
export function writeLoanTable(
  path: string,
  rows: number,
  options: { readonly missing?: string; readonly words?: boolean } = {},
): void {
  const random = new SeededRandom(`loans-${rows}`);
  const lines = ["id,income,debt,age,visits,basket,minutes,defaulted"];
  for (let row = 0; row < rows; row++) {
    const values = Array.from({ length: 6 }, () => random.normal());
    const risk = 1.5 * values[0] - values[3] + (values[4] > 0 ? values[5] : -values[5]);
    const label = random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? 1 : 0;
    const cells = values.map((value) =>
      options.missing !== undefined && random.uniform() < 0.1 ? options.missing : value.toFixed(3),
    );
    lines.push([`c${row}`, ...cells, options.words === true ? (label === 1 ? "yes" : "no") : label].join(","));
  }
  writeFileSync(path, `${lines.join("\n")}\n`);
}
