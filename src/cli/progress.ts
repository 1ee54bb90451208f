/** Progress of a job on standard error: a bar over trees with the time left on a terminal, plain lines elsewhere. */
import type { LayoutSummary, PartyEvent } from "../party/events.ts";

const barWidth = 28;

export class Progress {
  readonly #terminal: boolean;
  readonly #quiet: boolean;
  readonly #write: (text: string) => void;
  #firstTreeAt = 0;
  /** Trees that were there when the clock began. */
  #firstTree = 0;
  /** How much of the alignment's bar is filled; -1 while there is none. */
  #alignmentFilled = -1;

  constructor(options: { terminal: boolean; quiet: boolean; write: (text: string) => void }) {
    this.#terminal = options.terminal;
    this.#quiet = options.quiet;
    this.#write = options.write;
  }

  static onStandardError(quiet: boolean): Progress {
    return new Progress({ terminal: process.stderr.isTTY === true, quiet, write: (text) => process.stderr.write(text) });
  }

  line(text: string): void {
    if (!this.#quiet) this.#write(`${text}\n`);
  }

  handle(event: PartyEvent, activeName: string): void {
    if (this.#quiet) return;
    switch (event.type) {
      case "listening":
        this.line(`${event.party} (process ${event.process}): listening on port ${event.port} (TLS 1.3, mutual certificates)`);
        break;
      case "key":
        this.line(`${event.party} (process ${event.process}): made a ${event.keyBits}-bit Paillier key (${event.kernel} kernel)`);
        break;
      case "alignment-progress":
        this.#alignment(event.done, event.total);
        break;
      case "aligned":
        this.#endBar();
        if (event.party === activeName) this.line(`${event.party}: ${event.commonCount.toLocaleString("en")} people are common to all parties`);
        break;
      case "joined":
        if (event.party === activeName) this.line(`${event.party}: ${event.peer} joined with ${event.featureCount} features`);
        break;
      case "layout":
        this.line(`${event.party}: ${layoutLine(event.layout)}; no sum can overflow`);
        this.#firstTreeAt = Date.now();
        break;
      case "resumed":
        this.#endBar();
        if (event.party === activeName) this.line(`${event.party}: job ${event.job} goes on after ${event.trees} of ${event.treeCount} trees`);
        this.#firstTree = event.trees;
        break;
      case "waiting":
        this.#endBar();
        this.line(`${event.party}: ${event.message}; trying again in ${formatSeconds(event.delayMs / 1000)}`);
        break;
      case "tree":
        this.#tree(event.tree + 1, event.treeCount, event.metrics, event.validation);
        break;
      case "aligning":
        if (event.party === activeName) this.line(`${event.party}: aligning ${event.ownIdCount.toLocaleString("en")} ids with ${event.peer}`);
        break;
      case "passive-tree":
      case "job-ended":
      case "refused":
      case "scored":
      case "turned-away":
      case "stopping":
      case "stopped":
      case "active-result":
      case "passive-result":
      case "error":
        break;
    }
  }

  /** On a terminal only: elsewhere the result is one line. */
  #alignment(done: number, total: number): void {
    const filled = Math.floor((done / Math.max(total, 1)) * barWidth);
    if (!this.#terminal || filled === this.#alignmentFilled) return;
    this.#alignmentFilled = filled;
    this.#write(`\r\u001b[2K${"█".repeat(filled)}${"░".repeat(barWidth - filled)}  ${done.toLocaleString("en")} of ${total.toLocaleString("en")} masked ids`);
  }

  #endBar(): void {
    if (this.#alignmentFilled >= 0) this.#write("\n");
    this.#alignmentFilled = -1;
  }

  #tree(done: number, total: number, metrics: Readonly<Record<string, number>>, validation: Readonly<Record<string, number>> | undefined): void {
    const elapsed = (Date.now() - this.#firstTreeAt) / 1000;
    const left = (elapsed / Math.max(1, done - this.#firstTree)) * (total - done);
    const [name, value] = Object.entries(metrics)[0] ?? ["", 0];
    const facts = `tree ${done}/${total}  train ${name} ${value.toFixed(4)}${validation === undefined ? "" : `  validation ${validation[name].toFixed(4)}`}  ${done < total ? `${formatSeconds(left)} left` : `${formatSeconds(elapsed)} in all`}`;
    if (!this.#terminal) {
      this.line(facts);
      return;
    }
    const filled = Math.round((done / total) * barWidth);
    this.#write(`\r\u001b[2K${"█".repeat(filled)}${"░".repeat(barWidth - filled)}  ${facts}${done === total ? "\n" : ""}`);
  }
}

/** How many ciphertexts a person's gradients take. */
function layoutLine({ slots, plaintextsPerInstance: count }: LayoutSummary): string {
  const what = slots.length === 2 ? "g and h" : `${slots.length / 2} pairs of g and h`;
  const verb = count > 1 ? "take" : "ride in";
  return `${what} ${verb} ${count === 1 ? "one ciphertext" : count === 2 ? "two ciphertexts" : `${count} ciphertexts`} per person`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 100 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1e3;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1e3, unit + 1];
  return `${value.toPrecision(3)} ${units[unit]}`;
}
