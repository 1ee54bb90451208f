/** User and system CPU seconds of this process between two moments. */
export class CpuMeter {
  #start: NodeJS.CpuUsage | null = null;
  #seconds = 0;

  /** Only the first call counts. */
  start(): void {
    this.#start ??= process.cpuUsage();
  }

  /** May be called again: the last call counts. */
  stop(): void {
    if (this.#start === null) return;
    const { user, system } = process.cpuUsage(this.#start);
    this.#seconds = (user + system) / 1e6;
  }

  get seconds(): number {
    return this.#seconds;
  }
}
