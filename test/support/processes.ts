/** Parties as real processes that a test kills and starts again with the same command. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const bin = fileURLToPath(new URL("../../bin/tandem.js", import.meta.url));

export class PartyProcess {
  readonly name: string;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;
  #ended: Promise<number | null> = Promise.resolve(null);
  /** What the current process has said on standard error. */
  said = "";
  /** What all processes of this party have said. */
  saidEver = "";
  kills = 0;

  constructor(name: string, ...args: string[]) {
    this.name = name;
    this.#args = args;
    onTestFinished(async () => {
      this.#child?.kill("SIGKILL");
      await this.#ended;
    });
  }

  /** @param fileBlocksMax no file may grow larger, as on a disk that is full; in blocks of the shell's ulimit */
  start(fileBlocksMax?: number): void {
    const command = [process.execPath, bin, ...this.#args];
    // The signal is ignored so that the write fails instead of the process.
    const limited = ["/bin/sh", "-c", `trap "" XFSZ; ulimit -f ${fileBlocksMax}; exec "$0" "$@"`, ...command];
    const [program, ...args] = fileBlocksMax === undefined ? command : limited;
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (this.#child === child) this.said += text;
      this.saidEver += text;
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("close", resolve));
  }

  /** Null while it runs. */
  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  get hasEnded(): boolean {
    return this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** As the kernel does it when memory is short: no time for anything. */
  async kill(): Promise<void> {
    if (this.hasEnded) return;
    this.kills++;
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async ended(): Promise<number | null> {
    return this.#ended;
  }
}

/** Settles when something is so, by looking often. */
export async function until(what: string, isSo: () => boolean, timeoutMs = 60_000): Promise<void> {
  for (const started = performance.now(); !isSo();) {
    if (performance.now() - started > timeoutMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
