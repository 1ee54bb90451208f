/**
 * Cost of a job for a passive party with workers: the cost model's work on blocks, divided among the workers, and the
 * cost of the engine (docs/scale-out.md). The active party and the passive party's own process are assumed to run on
 * machines like this one.
 */
import { blockRowsFor } from "../crew/block-rows.ts";
import type { BlockCosts, Prediction } from "../scheme/cost-model.ts";

/** The engine adds a tenth to a worker's CPU time: measured where sums dominate. */
export const engineShare = 0.1;
/** Sealing and sending, or receiving and opening, at either end. With lattice this exceeds a tenth. */
export const engineSecondsPerByte = 3e-9;
/** Throughput of one connection between two companies, with one process at each end. */
export const lineBytesPerSecond = 150e6;
/** Factor for cores that are idle while one party waits for the other. */
const idleFraction = 0.1;
const workersMax = 4096;

export interface CrewQuestion {
  /** Null: the fewest that have enough memory. */
  readonly workers: number | null;
  /** Per worker. */
  readonly threads: number;
  /** Of the active party's machine and that of the passive party's own process. */
  readonly cores: number;
  /** Memory limit of a worker; null: none. */
  readonly memoryBytesMax: number | null;
}

/** Estimate for one passive party. Per-worker figures are those of the worker with the most blocks. */
export interface CrewEstimate {
  readonly workers: number;
  readonly threads: number;
  readonly blocks: number;
  readonly rowsPerBlock: number;
  readonly blocksPerWorker: number;
  readonly workerSecondsPerTree: number;
  readonly workerMemoryBytes: number;
  /** To and from the engine, per tree. */
  readonly workerBytesPerTree: { readonly sent: number; readonly answered: number };
  /** Sum over all workers: what the engine carries for a tree. */
  readonly engineBytesPerTree: { readonly sent: number; readonly answered: number };
  /** The passive party's own process. */
  readonly partySecondsPerTree: number;
  readonly activeSecondsPerTree: number;
  readonly lineSecondsPerTree: number;
  /** The computing steps run one after the other; sending overlaps with them. */
  readonly secondsPerTree: number;
  readonly bottleneck:
    | "the active party"
    | "the party's own process"
    | "its workers"
    | "the line between the companies";
  /** The requested memory limit of a worker. */
  readonly memoryBytesMax: number | null;
  /** The fewest workers with enough memory; null: a single block does not fit, or there is no limit. */
  readonly workersForMemory: number | null;
}

/** One per passive party; empty where the scheme has no work for workers. */
export function estimateCrews(
  prediction: Prediction,
  job: { readonly rows: number; readonly trees: number },
  question: CrewQuestion,
): CrewEstimate[] {
  return (prediction.blocks ?? []).map((costs, passive) => estimateCrew(prediction, passive, costs, job, question));
}

function estimateCrew(
  prediction: Prediction,
  passive: number,
  costs: BlockCosts,
  { rows, trees }: { readonly rows: number; readonly trees: number },
  { workers: given, threads, cores, memoryBytesMax }: CrewQuestion,
): CrewEstimate {
  const workersForMemory = memoryBytesMax === null ? null : workersFor(costs, rows, memoryBytesMax);
  const workers = given ?? workersForMemory ?? 1;
  const spread = spreadOver(rows, workers);
  const { blocks, rowsPerBlock, blocksPerWorker, rowsPerWorker } = spread;
  const sent = (costs.toldBytesPerRow * rowsPerWorker) / trees;
  const answered = (costs.answerBytes * blocksPerWorker) / trees;
  const engineBytes = {
    sent: (costs.toldBytesPerRow * rows) / trees,
    answered: (costs.answerBytes * blocks) / trees,
  };
  const sums = (costs.cpuSeconds * rowsPerWorker) / rows / trees;
  const blockCpu = sums + Math.max(engineShare * sums, (sent + answered) * engineSecondsPerByte);
  const sealing = (engineBytes.sent + engineBytes.answered) * engineSecondsPerByte;
  const own = Math.max(0, prediction.passiveCpuSeconds[passive] - costs.cpuSeconds) / trees + sealing;
  const waiting = 1 / (1 - idleFraction);
  const seconds = {
    "the active party": (prediction.activeCpuSeconds / trees / cores) * waiting,
    "the party's own process": (own / cores) * waiting,
    "its workers": (blockCpu / threads) * waiting,
    "the line between the companies":
      prediction.bytes.activeToPassive / prediction.passiveCpuSeconds.length / trees / lineBytesPerSecond,
  } as const;
  const names = Object.keys(seconds) as (keyof typeof seconds)[];
  const computing = seconds["the active party"] + seconds["the party's own process"] + seconds["its workers"];
  return {
    workers,
    threads,
    blocks,
    rowsPerBlock,
    blocksPerWorker,
    workerSecondsPerTree: seconds["its workers"],
    workerMemoryBytes: workerMemory(costs, spread),
    workerBytesPerTree: { sent: sent, answered },
    engineBytesPerTree: engineBytes,
    partySecondsPerTree: seconds["the party's own process"],
    activeSecondsPerTree: seconds["the active party"],
    lineSecondsPerTree: seconds["the line between the companies"],
    secondsPerTree: Math.max(computing, seconds["the line between the companies"]),
    bottleneck: names.reduce((slowest, name) => (seconds[name] > seconds[slowest] ? name : slowest)),
    memoryBytesMax,
    workersForMemory,
  };
}

interface Spread {
  readonly blocks: number;
  readonly rowsPerBlock: number;
  readonly blocksPerWorker: number;
  readonly rowsPerWorker: number;
}

function spreadOver(rows: number, workers: number): Spread {
  const rowsPerBlock = Math.min(rows, blockRowsFor(rows, workers));
  const blocks = Math.max(1, Math.ceil(rows / rowsPerBlock));
  const blocksPerWorker = Math.ceil(blocks / workers);
  return { blocks, rowsPerBlock, blocksPerWorker, rowsPerWorker: Math.min(rows, blocksPerWorker * rowsPerBlock) };
}

/** Memory of a worker's blocks and of one answer under construction. */
function workerMemory(costs: BlockCosts, { rowsPerWorker }: Spread): number {
  return costs.bytesPerRow * rowsPerWorker + costs.answerBytesOnce;
}

/** The fewest workers whose blocks fit; null: a single block does not fit. */
function workersFor(costs: BlockCosts, rows: number, memoryBytesMax: number): number | null {
  for (let workers = 1; workers <= workersMax; workers++)
    if (workerMemory(costs, spreadOver(rows, workers)) <= memoryBytesMax) return workers;
  return null;
}
