/** A process that is killed, stopped and restarted, as by a supervisor. */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { Exclusive } from "../../../src/base/scheduling/exclusive.ts";

const soonMs = 300;
const linesKept = 200;

export interface MortalOptions {
  readonly name: string;
  readonly spawn: () => ChildProcess;
  /** Whether an end of its own is one; otherwise it is started again. */
  readonly isEnd?: (exitCode: number | null, said: readonly string[]) => boolean;
  readonly onLine?: (line: string) => void;
  readonly onStart?: () => void;
}

export class MortalProcess {
  readonly #options: MortalOptions;
  #child: ChildProcess;
  #exit: Promise<void> = Promise.resolve();
  /** Faults run one at a time. */
  readonly #turns = new Exclusive();
  /** It should be running: it is restarted when found dead. */
  #isWanted = true;
  /** It was killed by a fault, which restarts it later. */
  #isHeld = false;
  /** It has exited by itself. */
  hasEnded = false;
  /** The last output lines, over all restarts. */
  readonly said: string[] = [];

  constructor(options: MortalOptions) {
    this.#options = options;
    this.#child = this.#start();
  }

  get name(): string {
    return this.#options.name;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Settles when it has been started again. */
  kill(signal: "SIGKILL" | "SIGTERM", awayMs: number): Promise<void> {
    return this.#turns.run(async () => {
      this.#isHeld = true;
      this.#child.kill(signal);
      await this.#exit;
      await pause(awayMs);
      this.#isHeld = false;
      if (this.#isWanted && !this.hasEnded) this.#child = this.#start();
    });
  }

  /** Settles when it is resumed. */
  stopFor(ms: number): Promise<void> {
    return this.#turns.run(async () => {
      const child = this.#child;
      child.kill("SIGSTOP");
      await pause(ms);
      child.kill("SIGCONT");
    });
  }

  /** For good. */
  async end(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill("SIGKILL");
    await this.#exit;
  }

  #start(): ChildProcess {
    const { spawn, onLine, onStart, isEnd = () => false } = this.#options;
    const child = spawn();
    onStart?.();
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        createInterface({ input: stream }).on("line", (line) => {
          this.said.push(line);
          if (this.said.length > linesKept) this.said.shift();
          onLine?.(line);
        });
    const stop = (): void => void child.kill("SIGKILL");
    process.once("exit", stop);
    this.#exit = new Promise((resolve) =>
      child.once("close", (exitCode) => {
        process.removeListener("exit", stop);
        if (isEnd(exitCode, this.said)) this.hasEnded = true;
        else if (!this.#isHeld) void this.#startSoon();
        resolve();
      }),
    );
    return child;
  }

  async #startSoon(): Promise<void> {
    await pause(soonMs);
    if (this.#isWanted && !this.#isHeld) this.#child = this.#start();
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
