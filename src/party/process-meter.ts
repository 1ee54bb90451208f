/** What a party's process took between two moments: CPU seconds, the longest stall of its event loop, its peak memory. */
import { monitorEventLoopDelay } from "node:perf_hooks";

const resolutionMs = 5;

export interface ProcessUse {
  readonly cpuSeconds: number;
  readonly eventLoopMaxBlockMs: number;
  readonly peakRssBytes: number;
}

export class ProcessMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #start: NodeJS.CpuUsage | null = null;
  #cpuSeconds = 0;

  /** Only the first call counts. */
  start(): void {
    if (this.#start !== null) return;
    this.#start = process.cpuUsage();
    this.#delays.enable();
  }

  /** May be called again: the last call counts. */
  stop(): void {
    if (this.#start === null) return;
    const { user, system } = process.cpuUsage(this.#start);
    this.#cpuSeconds = (user + system) / 1e6;
  }

  get use(): ProcessUse {
    this.#delays.disable();
    return {
      cpuSeconds: this.#cpuSeconds,
      // A timer that fires on time is already `resolution` late.
      eventLoopMaxBlockMs: Math.max(0, this.#delays.max / 1e6 - resolutionMs),
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
    };
  }
}
