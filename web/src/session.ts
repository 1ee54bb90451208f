/**
 * What the page knows: whose runs it may show, and the run that is open, folded from the server's events by the same code
 * that makes the report. Loading the page again folds the same events again.
 */
import { computed, effect, signal } from "@preact/signals";
import { addOwn, emptyOwn, type OwnRunView } from "../../src/report/own-view.ts";
import { addEvent, emptyRun, type RunView } from "../../src/report/run-view.ts";
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

interface Batch {
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
/** Milliseconds since the epoch, every second. */
export const now = signal(Date.now());

export const viewer = computed(() => route.value.parameters.get("viewer") ?? viewers.value.viewers[0]?.name ?? "");
/** The run that is open: asked for, under way, or the latest. */
export const openJob = computed(() => {
  const asked = route.value.parameters.get("run");
  if (asked !== null) return asked;
  return viewers.value.viewers.find(({ name }) => name === viewer.value)?.job ?? runs.value[0]?.job ?? null;
});

const listIntervalMs = 3000;

export async function begin(): Promise<void> {
  setInterval(() => (now.value = Date.now()), 1000);
  const found = await ask<Viewers>("/api/viewers");
  if (found === null) return;
  viewers.value = found;
  effect(() => void loadRuns(viewer.value));
  effect(() => follow(viewer.value, openJob.value));
  setInterval(() => {
    if (!document.hidden && connection.value !== "lost") void loadRuns(viewer.value);
  }, listIntervalMs);
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
  const found = await ask<readonly RunLine[]>(`/api/runs?${new URLSearchParams({ viewer: of }).toString()}`);
  if (found !== null && of === viewer.peek() && JSON.stringify(found) !== JSON.stringify(runs.peek())) runs.value = found;
}

/** A run that is only compared with: read once. */
export async function readRun(of: string, job: string): Promise<OpenRun | null> {
  const batch = await ask<Batch>(`/api/run?${new URLSearchParams({ viewer: of, run: job }).toString()}`);
  if (batch === null || batch.events.length === 0) return null;
  const opened = { view: emptyRun(), own: emptyOwn() };
  take(opened, batch);
  return opened;
}

let source: EventSource | null = null;
let followed = "";

function follow(of: string, job: string | null): void {
  const key = `${of}/${job ?? ""}`;
  if (key === followed) return;
  followed = key;
  source?.close();
  const opened: OpenRun = { view: emptyRun(), own: emptyOwn() };
  run.value = opened;
  if (of === "" || job === null) return;
  const stream = new EventSource(`/api/stream?${new URLSearchParams({ viewer: of, run: job }).toString()}`);
  source = stream;
  stream.addEventListener("open", () => (connection.value = "open"));
  stream.addEventListener("error", () => (connection.value = "lost"));
  stream.addEventListener("message", ({ data }: MessageEvent<string>) => {
    take(opened, JSON.parse(data) as Batch);
    if (followed !== key) return;
    // New objects, although what is in them grew in place: components that got the same one would not be drawn again.
    run.value = { view: { ...opened.view }, own: { ...opened.own } };
    // For whoever measures: the time of the last event that is on the screen.
    requestAnimationFrame(() => (document.documentElement.dataset["shownAt"] = String(opened.view.lastAt)));
  });
}

function take({ view, own }: OpenRun, batch: Batch): void {
  for (const event of batch.events) addEvent(view, event);
  for (const line of batch.own) addOwn(own, line, [view.party, ...view.peers]);
}
