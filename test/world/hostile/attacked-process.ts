/** A `tandem` command as a process that is attacked: what it says, how it ends, and the most memory that it took. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { packagePath } from "../../../src/base/package-root.ts";

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Left alone, Node lets garbage grow with the machine's memory, and what is needed would not show. */
const heapBound = "--max-old-space-size=320";

export class AttackedProcess {
  readonly #child: ChildProcess;
  /** Settles when the process and what it says have ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Everything on standard output and standard error. */
  said = "";
  #looked = 0;
  #peakBytes = 0;
  #hasEnded = false;
  readonly #sampling: NodeJS.Timeout;

  constructor(...args: readonly string[]) {
    const child = spawn(process.execPath, [heapBound, packagePath("bin", "tandem.js"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (this.said += text));
    this.#child = child;
    this.#sampling = setInterval(() => this.peakBytes(), 50);
    this.ended = new Promise((resolve) =>
      child.once("close", (exitCode, signal) => {
        this.#hasEnded = true;
        clearInterval(this.#sampling);
        resolve({ exitCode, signal });
      }),
    );
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What it has said since this was asked last. */
  news(): string {
    const news = this.said.slice(this.#looked);
    this.#looked = this.said.length;
    return news;
  }

  /** The most that was ever resident, as the kernel counts it; 0 where it does not tell. */
  peakBytes(): number {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
      const kilobytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
      this.#peakBytes = Math.max(this.#peakBytes, 1024 * kilobytes);
    } catch {
      // It has ended, or this is no Linux.
    }
    return this.#peakBytes;
  }

  /** @returns the port that a party says it listens on */
  async listening(): Promise<number> {
    for (;;) {
      const port = /"event":"listening".*?"port":(\d+)/.exec(this.said)?.[1];
      if (port !== undefined) return Number(port);
      if (this.#hasEnded) throw new Error(`the party ended before it listened: ${this.said}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessEnd> {
    if (!this.#hasEnded) this.#child.kill(signal);
    return this.ended;
  }
}
