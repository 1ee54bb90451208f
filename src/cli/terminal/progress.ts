/**
 * Progress of a job on standard error: a live view on a terminal, plain lines elsewhere, one JSON event per line for
 * programs, or nothing.
 */
import { formatMetrics, formatSeconds } from "../../base/text/format.ts";
import { type EventOf, type PartyEvent, eventUses } from "../../record/events.ts";
import { LiveView, type Screen } from "./live-view.ts";

export type ProgressMode = "live" | "lines" | "json" | "quiet";

export class Progress {
  readonly #mode: ProgressMode;
  readonly #write: (text: string) => void;
  readonly #live: LiveView | null;
  readonly #activeName: string;
  #firstTreeAt = 0;
  /** Trees that existed when the clock started. */
  #firstTree = 0;
  #isResumed = false;
  /** Lines that are printed only once. */
  readonly #printed = new Set<string>();

  /** @param activeName the party whose view is shown; of other parties only events marked for any party are printed */
  constructor({
    mode,
    activeName,
    screen,
  }: {
    readonly mode: ProgressMode;
    readonly activeName: string;
    readonly screen: Screen;
  }) {
    this.#mode = mode;
    this.#write = screen.write;
    this.#activeName = activeName;
    this.#live = mode === "live" ? new LiveView(screen, activeName) : null;
  }

  line(text: string): void {
    if (this.#live !== null) this.#live.line(text);
    else if (this.#mode === "lines") this.#write(`${text}\n`);
  }

  handle(event: PartyEvent): void {
    if (this.#mode === "quiet") return;
    if (this.#mode === "json") {
      this.#write(`${JSON.stringify({ ...event, at: Date.now() })}\n`);
      return;
    }
    this.#print(event);
    this.#live?.add(event);
  }

  close(): void {
    this.#live?.close();
  }

  #print(event: PartyEvent): void {
    const isOwn = event.party === this.#activeName;
    const uses = eventUses(event.type);
    if (uses?.terminal !== undefined && (isOwn || uses.terminal.of === "any")) {
      const logText = (): string | null => {
        const line = uses.log?.(event) ?? null;
        return line && `${event.party}: ${line.words}`;
      };
      const line = uses.terminal.line === undefined ? logText() : uses.terminal.line(event);
      if (line !== null && !this.#printed.has(line)) this.line(line);
      if (line !== null && uses.terminal.isOnce === true) this.#printed.add(line);
    }
    this.#follow(event, isOwn);
  }

  /** Keeps the clock for the line of a tree: the time since training started or resumed. */
  #follow(event: PartyEvent, isOwn: boolean): void {
    if (event.type === "layout") this.#firstTreeAt = Date.now();
    else if (event.type === "job" && isOwn) this.#firstTree = event.startTrees ?? 0;
    else if (event.type === "resumed") {
      this.#firstTree = event.trees;
      this.#isResumed = true;
    } else if (event.type === "tree" && this.#live === null) this.#tree(event);
  }

  #tree({ tree, treeCount: total, metrics, validation }: EventOf<"tree">): void {
    const done = tree + 1;
    const elapsed = (Date.now() - this.#firstTreeAt) / 1000;
    const left = (elapsed / Math.max(1, done - this.#firstTree)) * (total - done);
    const train = Object.keys(metrics).length === 0 ? "" : `  train ${formatMetrics(metrics)}`;
    const validated = validation === undefined ? "" : `  validation ${formatMetrics(validation)}`;
    const time =
      done < total
        ? `${formatSeconds(left)} left`
        : `${formatSeconds(elapsed)} ${this.#isResumed ? "since it resumed" : "in all"}`;
    this.line(`tree ${done}/${total}${train}${validated}  ${time}`);
  }
}
