/**
 * Figures of a party with workers: this process is the party, the engine is nats-server with mutual TLS as `tandem init
 * crew` sets it up, and workers are `tandem worker`. All of them share this machine, so times include the work of the
 * engine. workers-job.ts describes what is timed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { setUpV8 } from "../../src/base/scheduling/v8-settings.ts";
import { natsServerProgram } from "../../test/world/crews/engine-servers.ts";
import type { Figure } from "./arithmetic.ts";
import { BenchCrew } from "./bench-crew.ts";
import type { Timing } from "./measure.ts";
import { span, type TrainingBench } from "./training.ts";
import { type ReadyJob, readyJob, SummedTrees } from "./workers-job.ts";

const leaseSeconds = 3;

export interface WorkersBench extends TrainingBench {
  readonly repeats: number;
  /** Reports what is not measured, and why. */
  readonly onLeftOut: (what: string) => void;
}

export async function benchWorkers(bench: WorkersBench, onFigure: (figure: Figure) => void): Promise<void> {
  const program = natsServerProgram();
  if (program === null) {
    bench.onLeftOut("workers: there is no nats-server on this machine (apt install nats-server)");
    return;
  }
  setUpV8(); // as a party does
  const rows = bench.quick ? 2000 : 50_000;
  bench.onProgress(`workers: ${rows} rows are encrypted`);
  const job = await readyJob(rows, bench.seed);
  const root = await mkdtemp(join(tmpdir(), "tandem-workers-"));
  const crews: BenchCrew[] = [];
  try {
    const common = { program, leaseSeconds, job };
    const one = new BenchCrew(join(root, "one"), { ...common, workers: 1, threads: 2, blocks: 1 });
    const two = new BenchCrew(join(root, "two"), { ...common, workers: 2, threads: 1, blocks: 2 });
    crews.push(one, two);
    for (const crew of crews) await crew.open();
    bench.onProgress("workers: time per tree, interleaved");
    for (const figure of await times(job, one, two, bench)) onFigure(figure);
    onFigure(await bytesPerRow(job, two));
    bench.onProgress("workers: one is killed");
    onFigure(await takeOver(two, bench.quick ? 1 : 3));
  } finally {
    for (const crew of crews) await crew.close();
    await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

/** One way to sum, and the processes that take part besides this one. */
interface Contender {
  readonly name: string;
  readonly trees: SummedTrees;
  readonly crew: BenchCrew | null;
}

async function times(job: ReadyJob, one: BenchCrew, two: BenchCrew, bench: WorkersBench): Promise<Figure[]> {
  const [oneThread, twoThreads] = [await SummedTrees.open(job, 1), await SummedTrees.open(job, 2)];
  const contenders: Contender[] = [
    { name: "embedded, two threads", trees: twoThreads, crew: null },
    { name: "one worker, two threads", trees: one.trees, crew: one },
    { name: "embedded, one thread", trees: oneThread, crew: null },
    { name: "two workers, one thread each", trees: two.trees, crew: two },
  ];
  const digests = new Set<string>();
  const wall = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  const cpu = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (const { trees } of contenders) digests.add(await trees.tree()); // warm
  for (let repeat = 0; repeat < (bench.quick ? 1 : bench.repeats); repeat++)
    for (const { name, trees, crew } of contenders) {
      const [started, used] = [performance.now(), cpuSeconds(crew)];
      digests.add(await trees.tree());
      wall.get(name)?.push((performance.now() - started) / 1000);
      cpu.get(name)?.push(cpuSeconds(crew) - used);
    }
  if (digests.size !== 1) throw new TandemError("INTERNAL", "workers and one process have made different sums");
  for (const trees of [oneThread, twoThreads]) trees.close();
  const ratio = (name: string, of: string, over: string, bar: NonNullable<Figure["bar"]>): Figure => {
    const parts: Record<string, Timing> = {};
    for (const who of [of, over]) {
      parts[who] = span(wall.get(who) ?? []);
      parts[`${who}: CPU of all`] = span(cpu.get(who) ?? []);
    }
    return { name, value: parts[of].min / parts[over].min, bar, parts };
  };
  return [
    ratio("workers.overhead", "one worker, two threads", "embedded, two threads", { atMost: 1.15 }),
    ratio("workers.efficiency", "embedded, one thread", "two workers, one thread each", { atLeast: 1.6 }),
  ];
}

/** Of this process, and of a crew's engine and workers. */
function cpuSeconds(crew: BenchCrew | null): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (crew?.cpuSeconds() ?? 0);
}

/** What the party sends to the engine for a tree. Answers are in the parts: they depend on bins, not on rows. */
async function bytesPerRow({ rows, ciphertextBytes }: ReadyJob, { trees, servers }: BenchCrew): Promise<Figure> {
  const before = await servers.bytesSent();
  await trees.tree();
  const after = await servers.bytesSent();
  const perRow = (isOurs: (client: string) => boolean): Timing => {
    const sum = (sent: ReadonlyMap<string, number>): number =>
      [...sent].filter(([client]) => isOurs(client)).reduce((total, [, bytes]) => total + bytes, 0);
    const bytes = (sum(after) - sum(before)) / rows;
    return { min: bytes, median: bytes };
  };
  const parts = {
    fromParty: perRow((client) => client.startsWith("tandem party")),
    fromWorkers: perRow((client) => client.startsWith("tandem worker")),
    ciphertext: { min: ciphertextBytes, median: ciphertextBytes },
  };
  return { name: "workers.bytesPerRow", value: parts.fromParty.min / ciphertextBytes, bar: { atMost: 0.05 }, parts };
}

/** One of two workers is killed after a round's gradients have arrived, and the root is requested. */
async function takeOver(crew: BenchCrew, repeats: number): Promise<Figure> {
  const seconds: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    await crew.trees.load();
    const killed = performance.now();
    crew.killOne();
    await crew.trees.root();
    seconds.push((performance.now() - killed) / 1000);
    await crew.startOne();
  }
  const least = span(seconds);
  return {
    name: "workers.takeOver",
    value: least.median - leaseSeconds,
    bar: { atMost: 5 },
    parts: { untilAnswer: least },
  };
}
