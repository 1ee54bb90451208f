/**
 * Resource use of a party's process between two moments: CPU seconds, the longest stall of its event loop, peak memory.
 */
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
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
    };
  }
}
