/**
 * What a job would cost a passive party with workers: the cost model's work on blocks, spread over them, and what the
 * engine between costs (docs/scale-out.md). The active party and the passive party's own process are machines as this
 * one.
 */
import { blockRowsFor } from "../crew/block-rows.ts";
import type { BlockCosts, Prediction } from "../scheme/cost-model.ts";

/** A worker's work grows by a tenth, as was measured where sums are most of it. */
export const engineShare = 0.1;
/** Sealing and sending, or taking in and opening, at either end. For lattices that is more than a tenth. */
export const engineSecondsPerByte = 3e-9;
/** One connection between two companies, and one process at its end. */
export const lineBytesPerSecond = 150e6;
/** Cores that stand idle while one side waits for the other. */
const idleFraction = 0.1;
const workersMax = 4096;

export interface CrewQuestion {
  /** Null: as many as the memory needs. */
  readonly workers: number | null;
  /** Of each worker. */
  readonly threads: number;
  /** Of the machines of the active party, and of the passive party's own process. */
  readonly cores: number;
  /** That a worker may have; null: as much as it needs. */
  readonly memoryBytesMax: number | null;
}

/** One passive party's. Where workers hold different numbers of blocks, of the one that holds most. */
export interface CrewEstimate {
  readonly workers: number;
  readonly threads: number;
  readonly blocks: number;
  readonly rowsPerBlock: number;
  readonly blocksPerWorker: number;
  readonly workerSecondsPerTree: number;
  readonly workerMemoryBytes: number;
  /** To and from the engine, per tree. */
  readonly workerBytesPerTree: { readonly told: number; readonly answered: number };
  /** All workers' together: what the engine carries for a tree, and keeps of it. */
  readonly engineBytesPerTree: { readonly told: number; readonly answered: number };
  /** The passive party's own process. */
  readonly partySecondsPerTree: number;
  readonly activeSecondsPerTree: number;
  readonly lineSecondsPerTree: number;
  /** One after the other, but for the line, which is used meanwhile. */
  readonly secondsPerTree: number;
  readonly bottleneck:
    | "the active party"
    | "the party's own process"
    | "its workers"
    | "the line between the companies";
  /** That a worker may have, as it was asked. */
  readonly memoryBytesMax: number | null;
  /** The fewest workers that have room for it all; null: not even one block has, or nobody has asked. */
  readonly workersForMemory: number | null;
}

/** Of every passive party; empty where the scheme has no work for workers. */
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
  const told = (costs.toldBytesPerRow * rowsPerWorker) / trees;
  const answered = (costs.answerBytes * blocksPerWorker) / trees;
  const engineBytes = {
    told: (costs.toldBytesPerRow * rows) / trees,
    answered: (costs.answerBytes * blocks) / trees,
  };
  const sums = (costs.cpuSeconds * rowsPerWorker) / rows / trees;
  const blockCpu = sums + Math.max(engineShare * sums, (told + answered) * engineSecondsPerByte);
  const sealing = (engineBytes.told + engineBytes.answered) * engineSecondsPerByte;
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
    workerBytesPerTree: { told, answered },
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

/** What its blocks keep, and one answer that is being made. */
function workerMemory(costs: BlockCosts, { rowsPerWorker }: Spread): number {
  return costs.bytesPerRow * rowsPerWorker + costs.answerBytesOnce;
}

/** The fewest workers whose blocks fit; null: not even one block does. */
function workersFor(costs: BlockCosts, rows: number, memoryBytesMax: number): number | null {
  for (let workers = 1; workers <= workersMax; workers++)
    if (workerMemory(costs, spreadOver(rows, workers)) <= memoryBytesMax) return workers;
  return null;
}
