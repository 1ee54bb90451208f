/**
 * Progress of a job on standard error: a live picture on a terminal, plain lines elsewhere, one JSON event per line for
 * programs, or nothing.
 */
import type { Command } from "commander";
import { formatMetrics, formatSeconds } from "../../base/text/format.ts";
import type { LayoutSummary, PartyEvent } from "../../record/events.ts";
import { unansweredWords } from "../../record/log.ts";
import { LiveView, type Screen, standardErrorScreen } from "./live-view.ts";

export type ProgressMode = "live" | "lines" | "json" | "quiet";

export interface ProgressFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export function addProgressOptions(command: Command): Command {
  return command
    .option(
      "--json",
      "print the result as one line of JSON, and events as such lines on standard error (unless a terminal)",
    )
    .option("--quiet", "say nothing but the result");
}

export class Progress {
  readonly #mode: ProgressMode;
  readonly #write: (text: string) => void;
  readonly #live: LiveView | null;
  readonly #activeName: string;
  #firstTreeAt = 0;
  /** Trees that were there when the clock began. */
  #firstTree = 0;
  #wentOn = false;
  readonly #noted = new Set<string>();

  /** @param activeName whose point of view is shown; others' events are told where they matter */
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

  static onStandardError({ json, quiet }: ProgressFlags, activeName = ""): Progress {
    const mode = quiet === true ? "quiet" : process.stderr.isTTY === true ? "live" : json === true ? "json" : "lines";
    return new Progress({ mode, activeName, screen: standardErrorScreen() });
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
    this.#tell(event);
    this.#live?.add(event);
  }

  close(): void {
    this.#live?.close();
  }

  #tell(event: PartyEvent): void {
    const isActive = event.party === this.#activeName;
    switch (event.type) {
      case "listening":
        this.line(
          `${event.party} (process ${event.process}): listening on port ${event.port} (TLS 1.3, mutual certificates)`,
        );
        break;
      case "key":
        this.line(
          `${event.party} (process ${event.process}): ${event.keyless === true ? "encrypts with" : "made"} ` +
            `${event.key} (${event.kernel} kernel)`,
        );
        break;
      case "aligned":
        if (isActive)
          this.line(`${event.party}: ${event.commonCount.toLocaleString("en")} people are common to all parties`);
        break;
      case "joined":
        if (isActive) {
          const features = event.featureCount === 1 ? "1 feature" : `${event.featureCount} features`;
          this.line(`${event.party}: ${event.peer} joined with ${features}`);
        }
        break;
      case "resolution":
        this.line(`${event.party}: ${resolutionLine(event)}`);
        break;
      case "layout":
        this.line(`${event.party}: ${layoutLine(event.layout)}; no sum can overflow`);
        for (const line of schemeProof(event.layout)) this.line(`  ${line}`);
        this.#firstTreeAt = Date.now();
        break;
      case "resumed":
        if (isActive)
          this.line(`${event.party}: job ${event.job} goes on after ${event.trees} of ${event.treeCount} trees`);
        this.#firstTree = event.trees;
        this.#wentOn = true;
        break;
      case "waiting":
        this.line(
          `${event.party}: ${event.message}; trying again in ${formatSeconds(event.delayMs / 1000)}` +
            (event.leftMs === undefined ? "" : `, for up to ${formatSeconds(event.leftMs / 1000)}`),
        );
        break;
      case "unanswered":
        this.line(`${event.party}: ${unansweredWords(event.peer, event.waitedMs, event.isWorking)}`);
        break;
      case "alarm":
        this.line(`${event.party}: ALARM about ${event.peer}: ${event.words}`);
        break;
      case "notice":
        this.#note(event.words);
        break;
      case "tree":
        if (this.#live === null) this.#tree(event.tree + 1, event.treeCount, event.metrics, event.validation);
        break;
      case "aligning":
        if (isActive)
          this.line(`${event.party}: aligning ${event.ownIdCount.toLocaleString("en")} ids with ${event.peer}`);
        break;
      case "job":
        if (isActive && event.startTrees !== undefined)
          this.line(`${event.party}: job ${event.job} goes on from a model of ${event.startTrees} trees`);
        if (isActive) this.#firstTree = event.startTrees ?? 0;
        break;
      case "engine-awaited":
        if (isActive) this.line(`${event.party}: waits for the engine: ${event.why}`);
        break;
      case "workers-awaited":
        if (isActive) this.line(`${event.party}: waits for workers: ${event.workers} of ${event.wanted} are there`);
        break;
      case "tasks-opened":
        if (isActive)
          this.line(
            event.workers === 1
              ? `${event.party}: a worker encrypts and decrypts`
              : `${event.party}: ${event.workers} workers encrypt and decrypt`,
          );
        break;
      case "alignment-progress":
      case "data":
      case "progress":
      case "ledger":
      case "budget":
      case "passive-tree":
      case "job-ended":
      case "refused":
      case "scored":
      case "explained":
      case "crew-opened":
      case "worker-joined":
      case "worker-lost":
      case "block-moved":
      case "crew-progress":
      case "epoch-lost":
      case "turned-away":
      case "stopping":
      case "stopped":
      case "active-result":
      case "passive-result":
      case "error":
        break;
    }
  }

  /** Once: every fold of a cross-validation reads the same file. */
  #note(words: string): void {
    if (!this.#noted.has(words)) this.line(`note: ${words}`);
    this.#noted.add(words);
  }

  #tree(
    done: number,
    total: number,
    metrics: Readonly<Record<string, number>>,
    validation: Readonly<Record<string, number>> | undefined,
  ): void {
    const elapsed = (Date.now() - this.#firstTreeAt) / 1000;
    const left = (elapsed / Math.max(1, done - this.#firstTree)) * (total - done);
    const train = Object.keys(metrics).length === 0 ? "" : `  train ${formatMetrics(metrics)}`;
    const validated = validation === undefined ? "" : `  validation ${formatMetrics(validation)}`;
    const time =
      done < total
        ? `${formatSeconds(left)} left`
        : `${formatSeconds(elapsed)} ${this.#wentOn ? "since it went on" : "in all"}`;
    this.line(`tree ${done}/${total}${train}${validated}  ${time}`);
  }
}

/** Fewer bits than were asked for, and why. */
function resolutionLine({ resolutionBits, asked, scheme }: Extract<PartyEvent, { type: "resolution" }>): string {
  const why = `more would let the ${scheme} scheme's answers tell more than sums, with so many people and trees`;
  return `resolution_bits ${resolutionBits} instead of ${asked}: ${why}`;
}

/** What the scheme has proven of this job, where the layout does not say it. */
function schemeProof({ hidesMembers = false, proof }: LayoutSummary): readonly string[] {
  return hidesMembers ? proof : [];
}

/** How many ciphertexts a person's gradients take. */
function layoutLine({ slots, plaintextsPerInstance: count, hidesMembers = false }: LayoutSummary): string {
  if (hidesMembers) return "every node has gradients of its own, with zeros for whoever is not in it";
  const what = slots.length === 2 ? "g and h" : `${slots.length / 2} pairs of g and h`;
  const verb = count > 1 ? "take" : "ride in";
  const number = count === 1 ? "one" : count === 2 ? "two" : String(count);
  return `${what} ${verb} ${number} ${count === 1 ? "ciphertext" : "ciphertexts"} per person`;
}
