/**
 * What the page knows: whose runs it may show, and the run that is open, folded from the server's events by the same
 * code that makes the report. Loading the page again folds the same events again.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { addOwn, emptyOwn, isOwnView, type OwnRunView } from "../../src/record/own-view.ts";
import { addEvent, isStampedEvent } from "../../src/record/fold-events.ts";
import { emptyRun, type RunView } from "../../src/record/run-view.ts";
import { route } from "./route.ts";

/** As src/dashboard/server.ts answers. */
interface Viewers {
  readonly version: string;
  readonly viewers: readonly { readonly name: string; readonly job: string | null }[];
}

export interface RunLine {
  readonly job: string;
  readonly state: RunView["state"];
  readonly startedAt: number;
  readonly seconds: number;
  readonly treesDone: number;
  readonly treeCount: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly tested: boolean;
}

type EventLine = Parameters<typeof addEvent>[1];
type OwnLine = Parameters<typeof addOwn>[1];

interface StoredRecord {
  readonly events: readonly EventLine[];
  readonly own: readonly OwnLine[];
}

export interface OpenRun {
  readonly view: RunView;
  readonly own: OwnRunView;
}

export const viewers = signal<Viewers>({ version: "", viewers: [] });
export const runs = signal<readonly RunLine[]>([]);
/** A new object whenever something was added. */
export const run = signal<OpenRun>({ view: emptyRun(), own: emptyOwn() });
export const connection = signal<"connecting" | "open" | "lost" | "refused">("connecting");
/**
 * Milliseconds since the epoch: when something is drawn anyway, and otherwise every three or four seconds while a run
 * goes on.
 */
export const now = signal(Date.now());

export const viewer = computed(() => route.value.parameters.get("viewer") ?? viewers.value.viewers[0]?.name ?? "");
/** The run that is open: asked for, under way, or the latest. */
export const openJob = computed(() => {
  const asked = route.value.parameters.get("run");
  if (asked !== null) return asked;
  return viewers.value.viewers.find(({ name }) => name === viewer.value)?.job ?? runs.value[0]?.job ?? null;
});

/** What the frame around the views needs to know of the run; it is not drawn again for anything else. */
export const runState = computed(() => run.value.view.state);
export const runFailure = computed(() => run.value.view.failure);

/**
 * Of the list of runs: a party that waits for a job wants to see it begin; beside a run that goes on nobody looks at
 * the list.
 */
const listIntervalsMs = { waiting: 1000, looking: 3000, watching: 15_000 };
const tickMs = 1000;
/**
 * Drawing costs the processor that training needs: messages come about every three seconds, and bring the clock along.
 */
const clockAgeMsMax = 3400;

export async function begin(): Promise<void> {
  const found = await ask<Viewers>("/api/viewers");
  if (found === null) return;
  viewers.value = found;
  effect(() => void loadRuns(viewer.value));
  effect(() => follow(viewer.value, openJob.value));
  setInterval(() => {
    loadRunsNowAndThen();
    tick();
  }, tickMs);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) rest();
    else {
      listen();
      void loadRuns(viewer.peek());
    }
  });
}

function isOver(): boolean {
  return runState.peek() === "finished" || runState.peek() === "failed";
}

function tick(): void {
  if (!document.hidden && !isOver() && Date.now() - now.peek() >= clockAgeMsMax) now.value = Date.now();
}

let listedAt = 0;

function loadRunsNowAndThen(): void {
  if (document.hidden || connection.peek() === "lost") return;
  const looking = isOver() || route.peek().view === "runs";
  const interval = listIntervalsMs[openJob.peek() === null ? "waiting" : looking ? "looking" : "watching"];
  if (Date.now() - listedAt >= interval - tickMs / 2) void loadRuns(viewer.peek());
}

async function ask<T>(path: string): Promise<T | null> {
  try {
    const response = await fetch(path);
    if (response.status === 401) connection.value = "refused";
    return response.ok ? ((await response.json()) as T) : null;
  } catch {
    connection.value = "lost";
    return null;
  }
}

async function loadRuns(of: string): Promise<void> {
  if (of === "") return;
  listedAt = Date.now();
  const found = await ask<readonly RunLine[]>(`/api/runs?${new URLSearchParams({ viewer: of }).toString()}`);
  if (found !== null && of === viewer.peek() && JSON.stringify(found) !== JSON.stringify(runs.peek()))
    runs.value = found;
}

/** A run that is only compared with: read once. */
export async function readRun(of: string, job: string): Promise<OpenRun | null> {
  const record = await ask<StoredRecord>(`/api/run?${new URLSearchParams({ viewer: of, run: job }).toString()}`);
  if (record === null || record.events.length === 0) return null;
  const opened = { view: emptyRun(), own: emptyOwn() };
  for (const event of record.events) addEvent(opened.view, event);
  for (const line of record.own) addOwn(opened.own, line, [opened.view.party, ...opened.view.peers]);
  return opened;
}

/** The run that is followed, and how far: the id of the last message. */
let followed: { readonly of: string; readonly job: string; readonly opened: OpenRun; position: string } | null = null;
let source: EventSource | null = null;

function follow(of: string, job: string | null): void {
  if (followed !== null && followed.of === of && followed.job === job) return;
  rest();
  const opened: OpenRun = { view: emptyRun(), own: emptyOwn() };
  run.value = opened;
  followed = of === "" || job === null ? null : { of, job, opened, position: "" };
  if (!document.hidden) listen();
}

/** Nobody looks: nothing is sent, and nothing drawn. */
function rest(): void {
  source?.close();
  source = null;
}

/** From where the page left off. */
function listen(): void {
  const target = followed;
  if (target === null || source !== null) return;
  const { of, job, opened, position } = target;
  const stream = new EventSource(
    `/api/stream?${new URLSearchParams({ viewer: of, run: job, from: position }).toString()}`,
  );
  source = stream;
  stream.addEventListener("open", () => (connection.value = "open"));
  stream.addEventListener("error", () => (connection.value = "lost"));
  stream.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
    if (source !== stream) return;
    target.position = lastEventId;
    for (const line of data.split("\n")) takeLine(opened, line);
    batch(() => {
      // New objects, although what is in them grew in place: components that got the same one would not be drawn again.
      run.value = { view: { ...opened.view }, own: { ...opened.own } };
      now.value = Date.now();
    });
    // For whoever measures: the time of the last event that is about to be drawn.
    dispatchEvent(new CustomEvent("tandem-drawn", { detail: opened.view.lastAt }));
  });
}

/** As src/dashboard/run-feed.ts sends them; a line that was torn when a process died is passed over. */
function takeLine({ view, own }: OpenRun, line: string): void {
  try {
    const value: unknown = JSON.parse(line.slice(1));
    if (line.startsWith("e") && isStampedEvent(value)) addEvent(view, value);
    else if (line.startsWith("o") && isOwnView(value)) addOwn(own, value, [view.party, ...view.peers]);
  } catch {
    // no JSON
  }
}
