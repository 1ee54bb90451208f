/**
 * Resource use of a party's process between two moments: CPU seconds, the longest stall of its event loop, peak memory.
 */
import { readFileSync } from "node:fs";
import { LoopMonitor } from "./loop-monitor.ts";

export interface ProcessUse {
  readonly cpuSeconds: number;
  readonly eventLoopMaxBlockMs: number;
  readonly peakRssBytes: number;
}

export class ProcessMeter {
  readonly #loop = new LoopMonitor();
  #start: NodeJS.CpuUsage | null = null;
  #cpuSeconds = 0;

  /** Only the first call counts. */
  start(): void {
    if (this.#start !== null) return;
    this.#start = process.cpuUsage();
    this.#loop.start();
  }

  /** May be called again: the last call counts. */
  stop(): void {
    if (this.#start === null) return;
    const { user, system } = process.cpuUsage(this.#start);
    this.#cpuSeconds = (user + system) / 1e6;
  }

  /** Stops all measurements. */
  close(): void {
    this.#loop.stop();
  }

  /** The measured values; closes the meter. */
  get use(): ProcessUse {
    this.close();
    return {
      cpuSeconds: this.#cpuSeconds,
      eventLoopMaxBlockMs: this.#loop.maxBlockMs,
      peakRssBytes: peakBytes(),
    };
  }
}

/** Linux counts in maxRSS what the process that started this one had then: a simulation with its whole table. */
function peakBytes(): number {
  return 1024 * (peakOfProgram() ?? process.resourceUsage().maxRSS);
}

function peakOfProgram(): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes);
  } catch {
    return undefined; // another system
  }
}
