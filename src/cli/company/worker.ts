/** `tandem worker`: a process that does heavy work for a party of the same company. */
import { Command } from "commander";
import { setUpV8 } from "../../base/scheduling/v8-settings.ts";
import { memoryBytes } from "./memory-size.ts";
import { addExamples } from "../terminal/help-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface WorkerFlags {
  readonly config: string;
  readonly threads?: string;
  readonly memory?: string;
  readonly once?: boolean;
  readonly quiet?: boolean;
}

/** Blocks are returned within this time, or their leases expire. */
const stopMs = 5000;

export function workerCommand(): Command {
  const command = new Command("worker")
    .description("do heavy work for a party of this company: sum some of its blocks, encrypt and decrypt")
    .requiredOption("-c, --config <file>", "the worker's config, as 'tandem init crew' writes it")
    .option("--threads <count>", "threads of this worker (default: from the config, or the number of cores)")
    .option("--memory <size>", "memory limit, for example 48GB: above it no more blocks are taken")
    .option("--once", "end after one attempt at a job")
    .option("--quiet", "print warnings and errors only")
    .action(runWorkerCommand);
  return addExamples(
    command,
    "tandem worker -c crew/worker.yaml",
    "tandem worker -c crew/worker.yaml --threads 8 --memory 48GB",
  );
}

async function runWorkerCommand(flags: WorkerFlags): Promise<void> {
  const threads = flags.threads === undefined ? undefined : wholeNumber("--threads", flags.threads, 1, 256);
  const memory = flags.memory === undefined ? undefined : memoryBytes("--memory", flags.memory);
  const [{ readWorkerConfig }, { runWorker }, { workerLog }] = await Promise.all([
    import("../../party/config/crew-config.ts"),
    import("../../party/crew/crew-worker.ts"),
    import("../../party/crew/worker-log.ts"),
  ]);
  const config = await readWorkerConfig(flags.config);
  setUpV8();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort();
      // Without a connection to the engine blocks cannot be returned; their leases expire.
      setTimeout(() => process.exit(0), stopMs).unref();
    });
  const log = workerLog({
    level: flags.quiet === true && config.log.level !== "error" ? "warn" : config.log.level,
    terminal: process.stderr.isTTY === true,
    write: (text) => void process.stderr.write(text),
    now: () => new Date(),
  });
  await runWorker(config, log, { stop: stop.signal, threads, memoryBytesMax: memory, once: flags.once === true });
}
