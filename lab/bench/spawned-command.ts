/**
 * `tandem` commands as processes of their own, as a company runs them: their log is read for the one line that is
 * waited for.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { TandemError } from "../../src/base/error.ts";
import { packagePath } from "../../src/base/package-root.ts";

const command = packagePath("bin", "tandem.js");
const linesKept = 5;

export class SpawnedCommand {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #title: string;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();
  #listeningPort: number | null = null;

  constructor(args: readonly string[]) {
    this.#title = `tandem ${args[0]}`;
    this.#child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    this.#ended = new Promise((resolve) => this.#child.once("close", (code) => resolve(code)));
    if (this.#child.stderr !== null)
      createInterface({ input: this.#child.stderr }).on("line", (line) => this.#hear(line));
  }

  /** The port that it listens on, once it does. @throws TandemError PARTY_LOST if it ends before */
  async port(): Promise<number> {
    while (this.#listeningPort === null) {
      const more = new Promise<"more">((resolve) => this.#waiting.add(() => resolve("more")));
      if ((await Promise.race([more, this.#ended])) !== "more") throw this.#failure();
    }
    return this.#listeningPort;
  }

  /** @throws TandemError PARTY_LOST if it ends badly */
  async success(): Promise<void> {
    if ((await this.#ended) !== 0) throw this.#failure();
  }

  /** Sends the signal to end, without waiting. */
  end(): void {
    this.#child.kill("SIGTERM");
  }

  async stop(): Promise<void> {
    this.end();
    await this.#ended;
  }

  #hear(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > linesKept) this.#lines.shift();
    const port = /"event":"listening".*"port":(\d+)/.exec(line)?.[1];
    if (port !== undefined) this.#listeningPort = Number(port);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #failure(): TandemError {
    return new TandemError("PARTY_LOST", `'${this.#title}' ended: ${this.#lines.join(" | ")}`);
  }
}
