/** The built `tandem` command as a process: its output, how it ends, the memory that it took, kills and restarts. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { packagePath } from "../../src/base/package-root.ts";

const bin = packagePath("bin", "tandem.js");

export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Bound of V8's old generation. Without one, Node lets garbage grow with the machine's memory. */
  readonly heapMegabytes?: number;
  /** A program and its arguments that run the command. */
  readonly through?: readonly string[];
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of the command. */
export class TandemProcess {
  readonly child: ChildProcess;
  /** Settles when the process and its output have ended. */
  readonly finished: Promise<ProcessEnd>;
  stdout = "";
  stderr = "";
  hasEnded = false;
  readonly #onOutput = new Set<() => void>();
  #stdoutRead = 0;
  #stderrRead = 0;
  #peakBytes = 0;

  constructor(args: readonly string[], { env = {}, heapMegabytes, through = [] }: ProcessOptions = {}) {
    const flags = heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`];
    const [program, ...rest] = [...through, process.execPath, ...flags, bin, ...args];
    const child = spawn(program, rest, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#output(() => (this.stdout += text)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#output(() => (this.stderr += text)));
    const endWithParent = (): void => void child.kill("SIGKILL");
    process.once("exit", endWithParent);
    const sampling = heapMegabytes === undefined ? undefined : setInterval(() => this.peakBytes(), 50);
    this.child = child;
    this.finished = new Promise((resolve) =>
      child.once("close", (exitCode, signal) => {
        this.hasEnded = true;
        process.removeListener("exit", endWithParent);
        clearInterval(sampling);
        resolve({ exitCode, signal, stdout: this.stdout, stderr: this.stderr });
      }),
    );
  }

  #output(add: () => void): void {
    add();
    for (const look of this.#onOutput) look();
  }

  /** Settles when standard error matches. @throws if the process ends before */
  errorMatches(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches(pattern, "stderr");
  }

  /** The same of standard output. */
  outputMatches(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches(pattern, "stdout");
  }

  #matches(pattern: RegExp, stream: "stdout" | "stderr"): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this[stream]);
        if (match === null) return;
        this.#onOutput.delete(look);
        resolve(match);
      };
      this.#onOutput.add(look);
      void this.finished.then(() => reject(new Error(`the command ended before ${String(pattern)}: ${this[stream]}`)));
      look();
    });
  }

  /** The port that a party or server reports in its log. @throws if the process ends before */
  async port(): Promise<number> {
    return Number((await this.errorMatches(/"event":"listening".*?"port":(\d+)/))[1]);
  }

  /** @throws if it ends with another exit code than 0 */
  async success(): Promise<void> {
    const { exitCode, signal, stderr } = await this.finished;
    if (exitCode !== 0) throw new Error(`the command ended with ${exitCode ?? signal}: ${stderr.slice(-2000)}`);
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Output since the last call. */
  news(): string {
    const news = this.stdout.slice(this.#stdoutRead) + this.stderr.slice(this.#stderrRead);
    [this.#stdoutRead, this.#stderrRead] = [this.stdout.length, this.stderr.length];
    return news;
  }

  /** The largest resident size, as the kernel counts it; 0 where it does not. */
  peakBytes(): number {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
      const kilobytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
      this.#peakBytes = Math.max(this.#peakBytes, 1024 * kilobytes);
    } catch {
      // It has ended, or this is not Linux.
    }
    return this.#peakBytes;
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessEnd> {
    if (!this.hasEnded) this.child.kill(signal);
    return this.finished;
  }
}

/** Runs a command on a disk that is full: no file grows beyond this number of blocks of the shell's ulimit. */
export function onFullDisk(blocks: number): readonly string[] {
  // The signal is ignored so that the write fails instead of the process.
  return ["/bin/sh", "-c", `trap "" XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`];
}

export function startTandem(args: readonly string[], env: Readonly<Record<string, string>> = {}): TandemProcess {
  return new TandemProcess(args, { env });
}

export function tandem(...args: string[]): Promise<ProcessEnd> {
  return startTandem(args).finished;
}

/** A command that is killed and started again. */
export class RestartedProcess {
  readonly name: string;
  readonly #args: readonly string[];
  #runs: TandemProcess[] = [];
  kills = 0;

  constructor(name: string, ...args: string[]) {
    this.name = name;
    this.#args = args;
  }

  start(options: ProcessOptions = {}): TandemProcess {
    const run = new TandemProcess(this.#args, options);
    this.#runs.push(run);
    return run;
  }

  get #run(): TandemProcess | undefined {
    return this.#runs.at(-1);
  }

  /** Standard error of the current run. */
  get said(): string {
    return this.#run?.stderr ?? "";
  }

  /** Standard error of all runs. */
  get saidEver(): string {
    return this.#runs.map(({ stderr }) => stderr).join("");
  }

  /** Null while it runs, and of a run that was killed. */
  get exitCode(): number | null {
    return this.#run?.child.exitCode ?? null;
  }

  get hasEnded(): boolean {
    return this.#run?.hasEnded ?? true;
  }

  /** As the kernel does it when memory is short. */
  async kill(): Promise<void> {
    if (this.#run === undefined || this.#run.hasEnded || this.#run.child.exitCode !== null) return;
    this.kills++;
    await this.#run.stop("SIGKILL");
  }

  async ended(): Promise<number | null> {
    return (await this.#run?.finished)?.exitCode ?? null;
  }
}

/** Settles when a condition holds, by polling. */
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
