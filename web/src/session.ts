/**
 * What the page knows: whose jobs it may show, and the job that is open, folded from the server's events by the same
 * code that makes the report. Loading the page again folds the same events again.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { addOwn, isOwnLine } from "../../src/record/own-lines.ts";
import { emptyOwn } from "../../src/record/own-view.ts";
import { isStampedEvent } from "../../src/record/events.ts";
import { addEvent } from "../../src/record/fold-events.ts";
import { emptyJobView, isUnderWay, type JobView } from "../../src/record/job-view.ts";
import { alarmSentences } from "../../src/record/spending-facts.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { route } from "./route.ts";

/** As src/dashboard/server.ts answers. */
interface Viewers {
  readonly version: string;
  readonly viewers: readonly { readonly name: string; readonly job: string | null }[];
}

export interface JobLine {
  readonly job: string;
  readonly state: JobView["state"];
  readonly startedAt: number;
  readonly seconds: number;
  readonly treesDone: number;
  readonly treeCount: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly tested: boolean;
}

/** A job of a passive party that waits or runs; place 0: it runs. */
export interface QueueLine {
  readonly job: string;
  readonly peer: string;
  readonly place: number;
  readonly since: number;
}

/** A certificate of the party or of one of its partners. */
export interface CertificateLine {
  readonly party: string;
  readonly fingerprint: string;
  /** When it ends, in milliseconds since the epoch. */
  readonly until: number;
}

/** A request of a partner, as src/party/approvals/request-decisions.ts shows it. */
export interface RequestLine {
  readonly id: string;
  readonly summary: string;
  readonly reveals: readonly string[];
  readonly figures: readonly string[];
  readonly since: number;
  readonly standing: "waiting" | "approved" | "denied" | "over";
  readonly terms: {
    readonly partner: string;
    readonly work: string;
    readonly job: string;
    readonly purpose: string;
  };
}

interface ActionLine {
  readonly at: string;
  readonly who: string;
  readonly via: string;
  readonly what: string;
  readonly partner: string;
  readonly job: string;
  readonly request: string;
  readonly reason: string;
}

export interface Requests {
  /** The name under which this browser may decide; null: it may not. */
  readonly approver: string | null;
  readonly canSignIn: boolean;
  readonly requests: readonly RequestLine[];
  readonly actions: readonly ActionLine[];
}

type EventLine = Parameters<typeof addEvent>[1];
type OwnLine = Parameters<typeof addOwn>[1];

interface StoredRecord {
  readonly events: readonly EventLine[];
  readonly own: readonly OwnLine[];
}

export const viewers = signal<Viewers>({ version: "", viewers: [] });
export const jobs = signal<readonly JobLine[]>([]);
/** Of a passive party. */
export const queue = signal<readonly QueueLine[]>([]);
export const certificates = signal<readonly CertificateLine[]>([]);
/** Of a passive party where a person approves jobs; null: there are none. */
export const requests = signal<Requests | null>(null);
/** What the record of the open job says. A new object whenever something was added. */
const recorded = signal<JobViews>({ view: emptyJobView(), own: emptyOwn() });
export const connection = signal<"connecting" | "open" | "lost" | "refused">("connecting");
/**
 * Milliseconds since the epoch: when something is drawn anyway, and otherwise every three or four seconds while a job
 * continues.
 */
export const now = signal(Date.now());

export const viewer = computed(() => route.value.parameters.get("viewer") ?? viewers.value.viewers[0]?.name ?? "");
/** The latest job when the list was loaded; while it is under way another one does not take its place. */
const latestJob = signal<string | null>(null);
/** The job that is open: asked for, under way, or the latest. */
export const openJob = computed(() => {
  const asked = route.value.parameters.get("job");
  if (asked !== null) return asked;
  return viewers.value.viewers.find(({ name }) => name === viewer.value)?.job ?? latestJob.value;
});

/** The server knows that a job's process is gone; its record may not say so. */
const isAbandoned = computed(() => jobs.value.find(({ job }) => job === openJob.value)?.state === "interrupted");

export const jobViews = computed<JobViews>(() => {
  const { view, own } = recorded.value;
  return isAbandoned.value && isUnderWay(view.state) ? { view: { ...view, state: "interrupted" }, own } : { view, own };
});

/** What the frame around the views needs to know of the job; it is not drawn again for anything else. */
export const jobState = computed(() => jobViews.value.view.state);
export const jobFailure = computed(() => jobViews.value.view.failure);
export const jobWarning = computed(() => jobViews.value.view.warning);
/** One text: it changes only when one is added. */
export const jobAlarms = computed(() => alarmSentences(jobViews.value.view).join("\n"));

/**
 * Of the list of jobs: a party that waits for a job wants to see it begin; while one is watched, the list matters
 * little.
 */
const listIntervalsMs = { waiting: 1000, looking: 3000, watching: 15_000 };
const tickMs = 1000;
/** Drawing takes CPU time from training: messages arrive about every three seconds, and update the clock too. */
const clockAgeMsMax = 3400;

export async function begin(): Promise<void> {
  const found = await ask<Viewers>("/api/viewers");
  if (found === null) return;
  viewers.value = found;
  effect(() => void loadJobs(viewer.value));
  effect(() => follow(viewer.value, openJob.value));
  setInterval(() => {
    loadJobsNowAndThen();
    tick();
  }, tickMs);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) rest();
    else {
      listen();
      void loadJobs(viewer.peek());
    }
  });
}

function isOver(): boolean {
  return !isUnderWay(jobState.peek());
}

function tick(): void {
  if (!document.hidden && !isOver() && Date.now() - now.peek() >= clockAgeMsMax) now.value = Date.now();
}

let listedAt = 0;

function loadJobsNowAndThen(): void {
  if (document.hidden || connection.peek() === "lost") return;
  const looking = isOver() || route.peek().view === "jobs";
  const interval = listIntervalsMs[openJob.peek() === null ? "waiting" : looking ? "looking" : "watching"];
  if (Date.now() - listedAt >= interval - tickMs / 2) void loadJobs(viewer.peek());
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

async function loadJobs(of: string): Promise<void> {
  if (of === "") return;
  listedAt = Date.now();
  const query = new URLSearchParams({ viewer: of }).toString();
  const [found, queued, known, requested] = await Promise.all([
    ask<readonly JobLine[]>(`/api/jobs?${query}`),
    ask<readonly QueueLine[]>(`/api/queue?${query}`),
    ask<readonly CertificateLine[]>(`/api/certificates?${query}`),
    ask<Requests>(`/api/requests?${query}`),
  ]);
  if (of !== viewer.peek()) return;
  batch(() => {
    if (JSON.stringify(requested) !== JSON.stringify(requests.peek())) requests.value = requested;
    if (queued !== null && JSON.stringify(queued) !== JSON.stringify(queue.peek())) queue.value = queued;
    if (known !== null && JSON.stringify(known) !== JSON.stringify(certificates.peek())) certificates.value = known;
    if (found === null || JSON.stringify(found) === JSON.stringify(jobs.peek())) return;
    jobs.value = found;
    const kept = found.find(({ job }) => job === latestJob.peek());
    if (kept === undefined || !isUnderWay(kept.state)) latestJob.value = found[0]?.job ?? null;
  });
}

/** @returns what went wrong; empty: nothing did */
export function signIn(token: string): Promise<string> {
  return post("/api/approver", { token: token.trim() });
}

/** @returns what went wrong; empty: nothing did */
export function decide(request: string, what: "approve" | "deny", reason: string): Promise<string> {
  return post("/api/decision", { request, what, reason });
}

async function post(path: string, body: object): Promise<string> {
  const of = viewer.peek();
  try {
    const response = await fetch(`${path}?${new URLSearchParams({ viewer: of }).toString()}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    await loadJobs(of);
    if (response.ok) return "";
    const said = (await response.json().catch(() => null)) as { readonly message?: string } | null;
    return said?.message ?? `the server refused it (${response.status})`;
  } catch {
    return "the server cannot be reached";
  }
}

/** A job that is only compared with: read once. */
export async function readJob(of: string, job: string): Promise<JobViews | null> {
  const record = await ask<StoredRecord>(`/api/job?${new URLSearchParams({ viewer: of, job }).toString()}`);
  if (record === null || record.events.length === 0) return null;
  const opened = { view: emptyJobView(), own: emptyOwn() };
  for (const event of record.events) addEvent(opened.view, event);
  for (const line of record.own) addOwn(opened.own, line, [opened.view.party, ...opened.view.peers]);
  return opened;
}

/** The job that is followed, and how far: the id of the last message. */
let followed: { readonly of: string; readonly job: string; readonly opened: JobViews; position: string } | null = null;
let source: EventSource | null = null;

function follow(of: string, job: string | null): void {
  if (followed !== null && followed.of === of && followed.job === job) return;
  rest();
  const opened: JobViews = { view: emptyJobView(), own: emptyOwn() };
  recorded.value = opened;
  followed = of === "" || job === null ? null : { of, job, opened, position: "" };
  if (!document.hidden) listen();
}

/** The page is hidden: nothing is sent, and nothing drawn. */
function rest(): void {
  source?.close();
  source = null;
}

/** From where the page left off. */
function listen(): void {
  const target = followed;
  if (target === null || source !== null) return;
  const { of, job, opened, position } = target;
  const stream = new EventSource(`/api/stream?${new URLSearchParams({ viewer: of, job, from: position }).toString()}`);
  source = stream;
  stream.addEventListener("open", () => (connection.value = "open"));
  stream.addEventListener("error", () => (connection.value = "lost"));
  stream.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
    if (source !== stream) return;
    target.position = lastEventId;
    for (const line of data.split("\n")) takeLine(opened, line);
    batch(() => {
      // New objects, although their contents were changed in place: components that get the same object are not drawn
      // again.
      recorded.value = { view: { ...opened.view }, own: { ...opened.own } };
      now.value = Date.now();
    });
    // For measurements: the time of the last event that is about to be drawn.
    dispatchEvent(new CustomEvent("tandem-drawn", { detail: opened.view.lastAt }));
  });
}

/** As src/dashboard/record-feed.ts sends them; a line that was torn when a process died is passed over. */
function takeLine({ view, own }: JobViews, line: string): void {
  try {
    const value: unknown = JSON.parse(line.slice(1));
    if (line.startsWith("e") && isStampedEvent(value)) addEvent(view, value);
    else if (line.startsWith("o") && isOwnLine(value)) addOwn(own, value, [view.party, ...view.peers]);
  } catch {
    // no JSON
  }
}
