/**
 * Live view of a job on a terminal, or of several that a passive party serves at once: a few lines that are redrawn,
 * from the same view as the page and the report. Colours only where they are wanted (NO_COLOR, TERM=dumb).
 */
import { formatBytes, formatMetrics, formatSeconds } from "../../base/text/format.ts";
import type { PartyEvent } from "../../record/events.ts";
import type { Metrics } from "../../record/events/training-fields.ts";
import { isOfJob } from "../../record/record-keeper.ts";
import { addEvent } from "../../record/fold-events.ts";
import { activityOf, elapsedSeconds, secondsLeft } from "../../record/job-facts.ts";
import { emptyJobView, type PartyView, type JobView, type RoundMetrics } from "../../record/job-view.ts";

export interface Screen {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly colours: boolean;
  readonly now: () => number;
}

const redrawMs = 200;
/** The last events of a job. */
const endings: ReadonlySet<PartyEvent["type"]> = new Set(["active-result", "job-ended", "alignment-failed", "error"]);
const barWidthMax = 28;
/** Okabe and Ito's blue, orange, green, purple, sky and vermilion, among a terminal's 256. */
const partyColours = [32, 214, 36, 175, 75, 166];

interface LiveJob {
  readonly view: JobView;
  /** Whether the job was resumed from a checkpoint with trees. */
  isResumed: boolean;
}

/** Where all events are of one job. */
const onlyJob = "";

export class LiveView {
  readonly #screen: Screen;
  readonly #party: string;
  readonly #isOfSeveral: boolean;
  readonly #jobs = new Map<string, LiveJob>();
  #timer: NodeJS.Timeout | null = null;
  #linesDrawn = 0;

  /**
   * @param party whose events are shown: the active party's, or those of the party itself
   * @param isOfSeveral its events are of several jobs, which they name
   */
  constructor(screen: Screen, party: string, isOfSeveral = false) {
    this.#screen = screen;
    this.#party = party;
    this.#isOfSeveral = isOfSeveral;
  }

  add(event: PartyEvent): void {
    if (event.party !== this.#party || !isOfJob(event)) return;
    const key = this.#isOfSeveral ? this.#keyOf(event) : onlyJob;
    if (key === undefined) return;
    const job = this.#jobs.get(key) ?? { view: emptyJobView(), isResumed: false };
    this.#jobs.set(key, job);
    if (event.type === "resumed" && event.trees > 0 && job.view.treeEnds.length === 0) job.isResumed = true;
    addEvent(job.view, { ...event, at: this.#screen.now() });
    if (this.#timer === null && this.#linesOf(job).length > 0)
      this.#timer = setInterval(() => this.#draw(), redrawMs).unref();
    if (endings.has(event.type)) this.#end(key, job);
  }

  /** Prints a permanent line above the live view. */
  line(text: string): void {
    this.#erase();
    this.#screen.write(`${text}\n`);
    if (this.#timer !== null) this.#draw();
  }

  /** The last state stays on the terminal; the next job starts a new view. */
  close(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#draw();
    this.#linesDrawn = 0;
    this.#jobs.clear();
  }

  /** An event that names no job is about the only one; of several jobs it is about none. */
  #keyOf({ job }: PartyEvent): string | undefined {
    return job ?? (this.#jobs.size === 1 ? [...this.#jobs.keys()][0] : undefined);
  }

  #end(key: string, job: LiveJob): void {
    if (this.#jobs.size === 1) {
      this.close();
      return this.#jobs.clear();
    }
    const lines = this.#linesOf(job);
    this.#jobs.delete(key);
    for (const line of lines) this.line(line);
  }

  #draw(): void {
    this.#erase();
    const lines = this.#lines();
    this.#linesDrawn = lines.length;
    this.#screen.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Moves the cursor to the first line of the view and clears below it. */
  #erase(): void {
    if (this.#linesDrawn > 0) this.#screen.write(`\u001b[${this.#linesDrawn}A\r\u001b[J`);
    this.#linesDrawn = 0;
  }

  #lines(): string[] {
    return [...this.#jobs.values()].flatMap((job) => this.#linesOf(job));
  }

  #linesOf(job: LiveJob): string[] {
    const lines = this.#ownLines(job);
    const title = `${job.view.job} (${job.view.peers.join(", ")})`;
    return lines.length > 0 && this.#isOfSeveral && this.#jobs.size > 1 ? [title, ...lines] : lines;
  }

  #ownLines({ view, isResumed }: LiveJob): string[] {
    const width = Math.max(10, this.#screen.columns() - 1); // a full last column wraps
    const aligning = view.state === "aligning" && view.alignment.total > 0;
    if (aligning)
      return [
        this.#fitted(
          [
            this.#bar(view.alignment.done / view.alignment.total, width),
            `  ${view.alignment.done.toLocaleString("en")} of ${view.alignment.total.toLocaleString("en")} masked ids`,
          ],
          width,
        ),
      ];
    if (view.state === "starting" || view.treeCount === 0) return [];
    const lines = [
      this.#fitted([this.#bar(view.treesDone / view.treeCount, width), `  ${this.#facts(view, isResumed)}`], width),
    ];
    const last = view.rounds[view.rounds.length - 1];
    if (last !== undefined && hasChosenMetrics(view))
      lines.push(this.#fitted(["", `  ${metricTexts(last, (metrics) => metrics).join("  ")}`], width));
    const nameWidth = Math.max(...view.parties.map(({ name }) => name.length));
    view.parties.forEach((party, i) => lines.push(this.#partyLine(view, party, i, nameWidth, width)));
    return lines;
  }

  #facts(view: JobView, isResumed: boolean): string {
    const left = secondsLeft(view, this.#screen.now());
    const last = view.rounds[view.rounds.length - 1];
    const metrics = last === undefined || hasChosenMetrics(view) ? [] : metricTexts(last, firstOf);
    const growing = view.state === "training" && view.treesDone < view.treeCount;
    const where = growing
      ? [
          `tree ${view.treesDone + 1}/${view.treeCount}`,
          view.depthMax === 0
            ? `level ${view.level + 1}`
            : `level ${Math.min(view.level + 1, view.depthMax)}/${view.depthMax}`,
        ]
      : [`tree ${view.treesDone}/${view.treeCount}`];
    const time =
      left === null
        ? `${formatSeconds(elapsedSeconds(view, this.#screen.now()))} so far`
        : `${formatSeconds(left)} left`;
    const spent = formatSeconds(elapsedSeconds(view, this.#screen.now()));
    const span = isResumed ? "since it resumed" : "in all";
    return [...where, ...metrics, growing ? time : `${spent} ${span}`].join("  ");
  }

  #partyLine(view: JobView, party: PartyView, index: number, nameWidth: number, width: number): string {
    const back = view.role === "active" ? "back" : "from it";
    const flow = party.self ? "" : `${formatBytes(party.receivedBytes)} to it, ${formatBytes(party.sentBytes)} ${back}`;
    const text = `  ${party.name.padEnd(nameWidth)}  ${activityOf(view, party).padEnd(22)}  ${flow}`.trimEnd();
    return this.#coloured(
      text.length > width ? `${text.slice(0, width - 1)}…` : text,
      partyColours[index % partyColours.length],
    );
  }

  /** At most a third of the terminal. */
  #bar(part: number, width: number): string {
    const barWidth = Math.min(barWidthMax, Math.floor(width / 3));
    const filled = Math.round(Math.min(1, Math.max(0, part)) * barWidth);
    return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
  }

  /** The first piece in the accent colour; cut to the width of the terminal. */
  #fitted([bar, rest]: readonly [string, string], width: number): string {
    const text = rest.length > width - bar.length ? `${rest.slice(0, Math.max(0, width - bar.length - 1))}…` : rest;
    return `${this.#coloured(bar, partyColours[0])}${text}`;
  }

  #coloured(text: string, colour: number): string {
    return this.#screen.colours ? `\u001b[38;5;${colour}m${text}\u001b[0m` : text;
  }
}

export function standardErrorScreen(): Screen {
  return {
    write: (text) => process.stderr.write(text),
    columns: () => process.stderr.columns ?? 80,
    colours: coloursWanted(process.env),
    now: Date.now,
  };
}

/** See no-color.org: every value except the empty one turns colours off. */
export function coloursWanted(environment: NodeJS.ProcessEnv): boolean {
  return (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

/** Whether the job sets eval_metric: then all metrics are shown, on a separate line. */
function hasChosenMetrics({ parameters }: JobView): boolean {
  return (parameters["eval_metric"] ?? "") !== "";
}

/** Metrics of training and validation rows, where present. */
function metricTexts({ train, validation }: RoundMetrics, pick: (metrics: Metrics) => Metrics): string[] {
  return [["train", train] as const, ["validation", validation ?? {}] as const].flatMap(([word, metrics]) =>
    Object.keys(metrics).length === 0 ? [] : [`${word} ${formatMetrics(pick(metrics))}`],
  );
}

function firstOf(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).slice(0, 1));
}
