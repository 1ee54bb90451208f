/**
 * Progress of a reproduction on standard error: a bar over all trainings with the time left on a terminal, a line per
 * training elsewhere. Trainings are weighted by the cost model's predictions, and the time left is corrected by its
 * error so far.
 */
import type { TrialProgress } from "../trials/trial-runner.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import { formatSeconds } from "../../src/base/text/format.ts";

const barWidth = 28;

export class ReproduceProgress implements TrialProgress {
  readonly #terminal: boolean;
  readonly #write: (text: string) => void;
  #toRun = 0;
  #done = 0;
  /** Of the cost model: all trainings, those finished, and the one under way. */
  #secondsPlanned = 0;
  #secondsDone = 0;
  #secondsCurrent = 0;
  #secondsTaken = 0;
  #name = "";

  constructor(options: { readonly terminal: boolean; readonly write: (text: string) => void }) {
    this.#terminal = options.terminal;
    this.#write = options.write;
  }

  line(text: string): void {
    this.#write(`${this.#terminal ? "\r\u001b[2K" : ""}${text}\n`);
  }

  planned({ toRun, finished, seconds }: { toRun: number; finished: number; seconds: number }): void {
    this.#toRun = toRun;
    this.#secondsPlanned = seconds;
    const kept = finished === 0 ? "" : `, ${finished} finished before`;
    this.line(
      toRun === 0
        ? `nothing to train${kept}`
        : `${toRun} trainings${kept}; about ${formatSeconds(seconds)} on this machine`,
    );
  }

  started(name: string, seconds: number): void {
    this.#name = name;
    this.#secondsCurrent = seconds;
    this.#draw(0);
  }

  event(event: PartyEvent): void {
    if (event.type === "tree") this.#draw((event.tree + 1) / event.treeCount);
  }

  finished(name: string, seconds: number): void {
    this.#done++;
    this.#secondsDone += this.#secondsCurrent;
    this.#secondsTaken += seconds;
    this.#secondsCurrent = 0;
    const left = this.#done < this.#toRun ? `, ${formatSeconds(this.#left(0))} left` : "";
    this.line(`${this.#done}/${this.#toRun}  ${name}  ${formatSeconds(seconds)}${left}`);
  }

  #left(fraction: number): number {
    const error = this.#secondsDone === 0 ? 1 : this.#secondsTaken / this.#secondsDone;
    return (this.#secondsPlanned - this.#secondsDone - fraction * this.#secondsCurrent) * error;
  }

  #draw(fraction: number): void {
    if (!this.#terminal) return;
    const filled = Math.round(
      ((this.#secondsDone + fraction * this.#secondsCurrent) / this.#secondsPlanned) * barWidth,
    );
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
    const where = `${this.#done + 1}/${this.#toRun}  ${this.#name}`;
    this.#write(`\r\u001b[2K${bar}  ${where}  ${formatSeconds(this.#left(fraction))} left`);
  }
}
