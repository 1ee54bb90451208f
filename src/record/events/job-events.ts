/** The start and end of a job, its attempts and results. */
import { recordedMembership } from "../membership.ts";
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import { formatSeconds } from "../../base/text/format.ts";
import { disclosureText } from "../../privacy/disclosure-text.ts";
import { event } from "../event.ts";
import { count, flag, number, role, text } from "../fields.ts";
import { failed, info, type LogLine } from "../log-line.ts";
import type { JobView, PartyView } from "../job-view.ts";
import { metrics, operationCounts, traffic } from "./training-fields.ts";

const parameters = z.record(text, z.union([number, text, flag]));
const versions = z.object({ tandem: text, protocol: number, node: text });
const disclosure = z.object({
  name: text,
  learner: text,
  about: text,
  what: text,
  atMost: z.nullable(number),
  unit: text,
  note: z.exactOptional(text),
});
/** This party's own rows of a job. */
const dataSummary = z.object({ trainRows: count, testRows: count, featureCount: count });
const failure = z.object({ code: text, message: text });
const resultMetrics = z.object({
  train: metrics,
  validation: z.exactOptional(metrics),
  test: z.nullable(metrics),
});
const processUse = { cpuSeconds: number, eventLoopMaxBlockMs: number, peakRssBytes: number };
const activeResult = z.object({
  /** Of the model, including those of its start model. */
  trees: count,
  startTrees: z.exactOptional(count),
  metrics: resultMetrics,
  /** The same for a model of the active party's own columns, where the comparison was requested. */
  alone: z.exactOptional(resultMetrics),
  /** By phase; the phases depend on the version. */
  phasesMs: z.record(text, number),
  counts: operationCounts,
  bytes: traffic,
  ...processUse,
});
const passiveResult = z.object({ trees: z.exactOptional(count), counts: operationCounts, ...processUse });
/** The properties of a job, reported at its start and again when it is resumed. */
const job = {
  role,
  job: text,
  /** The other parties, as this one's config names them. */
  peers: z.array(text),
  treeCount: count,
  /** Trees of the start model, included in treeCount. */
  startTrees: z.exactOptional(count),
  depthMax: count,
  /** Hyper-parameters as this party knows them. */
  parameters,
  /** Shown to every viewer of the job, for example that its key is insecure. */
  warning: z.exactOptional(text),
  /** Its scheme hides node membership from passive parties. Left out: it does not. */
  hidesMembers: z.exactOptional(flag),
  /** At a passive party: upper bounds of what the job will reveal with these parameters and this party's policy. */
  disclosures: z.exactOptional(z.array(disclosure)),
  versions,
};

export type JobParameters = Immutable<z.infer<typeof parameters>>;
export type JobVersions = Immutable<z.infer<typeof versions>>;
export type JobFields = Immutable<z.infer<z.ZodMiniObject<typeof job>>>;
export type DataSummary = Immutable<z.infer<typeof dataSummary>>;
export type ActiveResult = Immutable<z.infer<typeof activeResult>>;
export type PassiveResult = Immutable<z.infer<typeof passiveResult>>;
type Disclosure = Immutable<z.infer<typeof disclosure>>;

export const jobEvents = {
  job: event(job, {
    log: ({ job: name, peers, disclosures }) =>
      disclosures === undefined ? null : revealed(name, peers[0], disclosures),
    terminal: {
      of: "own",
      line: ({ party, job: name, startTrees }) =>
        startTrees === undefined ? null : `${party}: job ${name} continues a model of ${startTrees} trees`,
    },
    fold: begin,
  }),
  data: event(
    { job: text, data: dataSummary },
    {
      fold: (view, { data }) => {
        view.data = data;
      },
    },
  ),
  key: event(
    {
      process: number,
      /** For example "a 2048-bit Paillier key". */
      key: text,
      /** The scheme has no key but draws new secrets for every node, and `key` describes it. Left out: it has a key. */
      keyless: z.exactOptional(flag),
      kernel: text,
    },
    {
      terminal: {
        of: "any",
        line: ({ party, process, key, keyless, kernel }) =>
          `${party} (process ${process}): ${keyless === true ? "encrypts with" : "made"} ${key} (${kernel} kernel)`,
      },
      fold: (view, { kernel }) => {
        view.kernel = kernel;
      },
    },
  ),
  resumed: event(
    { job: text, trees: count, treeCount: count, commonCount: z.exactOptional(count) },
    {
      log: ({ job: name, trees, treeCount }) =>
        info(`job ${name} resumes after ${trees} of ${treeCount} trees`, { job: name, trees, treeCount }),
      terminal: { of: "own" },
      fold: (view, { trees }) => {
        view.treesDone = trees;
      },
    },
  ),
  waiting: event(
    {
      job: text,
      delayMs: number,
      /** How long attempts will be repeated before giving up. */
      leftMs: z.exactOptional(number),
      code: text,
      message: text,
    },
    {
      log: ({ job: name, delayMs, code, message }) =>
        failed(
          "warn",
          `job ${name} waits ${(delayMs / 1000).toFixed(1)} s: `,
          { code, message },
          { job: name, delayMs },
        ),
      terminal: {
        of: "any",
        line: ({ party, message, delayMs, leftMs }) =>
          `${party}: ${message}; trying again in ${formatSeconds(delayMs / 1000)}` +
          (leftMs === undefined ? "" : `, for up to ${formatSeconds(leftMs / 1000)}`),
      },
      fold: (view, { message }) => {
        view.waiting = `waiting: ${message}`;
        for (const party of view.parties) {
          party.connected = party.self; // all connections are closed together
          party.doing = null;
        }
      },
    },
  ),
  /** At the active party: the job waits for its turn at a passive party; place 0: that is over. */
  queued: event(
    { job: text, peer: text, place: count, waiting: count },
    {
      log: ({ job: name, peer, place, waiting }) =>
        info(`job ${name}: ${queuedWords(peer, place, waiting)}`, { job: name, peer, place, waiting }),
      terminal: {
        of: "own",
        line: ({ party, peer, place, waiting }) => `${party}: ${queuedWords(peer, place, waiting)}`,
      },
      fold: (view, { peer, place, waiting }) => {
        view.waiting = place === 0 ? null : queuedWords(peer, place, waiting);
      },
    },
  ),
  /** At the active party: a person at the passive one has to approve the job; under this name it is found there. */
  "approval-awaited": event(
    { job: text, peer: text, request: text },
    {
      log: ({ job: name, peer, request }) =>
        info(`job ${name}: ${awaitedWords(peer, request)}`, { job: name, peer, request }),
      terminal: { of: "own", line: ({ party, peer, request }) => `${party}: ${awaitedWords(peer, request)}` },
      fold: (view, { peer, request }) => {
        view.waiting = awaitedWords(peer, request);
      },
    },
  ),
  "approval-given": event(
    { job: text, peer: text, request: text },
    {
      log: ({ job: name, peer, request }) =>
        info(`job ${name}: ${peer} has approved request ${request}`, { job: name, peer, request }),
      terminal: { of: "own", line: ({ party, peer }) => `${party}: ${peer} has approved the job` },
      fold: (view) => {
        view.waiting = null;
      },
    },
  ),
  /** At the active party: a call to a passive party has not been answered for a while. */
  unanswered: event(
    {
      job: text,
      peer: text,
      waitedMs: number,
      /** Whether that party reports that it is working on it. */
      isWorking: flag,
    },
    {
      log: ({ job: name, peer, waitedMs, isWorking }) => ({
        level: isWorking ? "info" : "warn",
        words: `job ${name}: ${unansweredWords(peer, waitedMs, isWorking)}`,
        facts: { job: name, peer, waitedMs, working: String(isWorking) },
      }),
      terminal: {
        of: "any",
        line: ({ party, peer, waitedMs, isWorking }) => `${party}: ${unansweredWords(peer, waitedMs, isWorking)}`,
      },
    },
  ),
  /** An attempt ended at a passive party. */
  "job-ended": event(
    { peer: text, job: text, failure: z.nullable(failure) },
    {
      log: ({ peer, job: name, failure: why }) =>
        why === null
          ? info(`job ${name} finished`, { peer, job: name })
          : failed("error", `job ${name} failed: `, why, { peer, job: name }),
      fold: (view, { failure: why }) => {
        view.failure = why;
        end(view, why === null ? "finished" : "failed");
      },
      counter: {
        name: "tandem_jobs_ended_total",
        help: "Attempts at a job that ended, by result.",
        label: {
          name: "result",
          values: ["finished", "failed"],
          of: ({ failure: why }) => (why === null ? "finished" : "failed"),
        },
      },
    },
  ),
  /** At the active party: a vetting has ended, and there is no model. */
  vetted: event(
    { job: text, columns: count },
    {
      log: ({ job: name, columns }) => info(`vetting ${name}: ${columns} columns`, { job: name, columns }),
      fold: (view) => end(view, "finished"),
    },
  ),
  "active-result": event(
    { result: activeResult },
    {
      fold: (view, { result }) => {
        view.result = result;
        end(view, "finished");
      },
    },
  ),
  "passive-result": event(
    { result: passiveResult },
    {
      log: ({ result: { cpuSeconds, peakRssBytes } }) => ({
        level: "debug",
        words: `used ${cpuSeconds.toFixed(1)} s of CPU`,
        facts: { cpuSeconds, peakRssBytes },
      }),
      fold: (view, { result }) => {
        view.passiveResult = result;
      },
    },
  ),
  error: event(
    { code: text, message: text },
    {
      log: ({ code, message }) => failed("error", "", { code, message }, {}),
      fold: (view, { code, message }) => {
        view.failure = { code, message };
        end(view, "failed");
      },
    },
  ),
  /** Added by the party's next process: the one before ended during the job. */
  interrupted: event({ job: text }, { fold: (view) => end(view, "interrupted") }),
};

/** What the job may reveal, logged before it starts. */
function revealed(job: string, peer: string, disclosures: readonly Disclosure[]): LogLine {
  const reveals = disclosures.filter(({ learner }) => learner === peer).map(disclosureText);
  const words = `job ${job} will reveal to ${peer}, at most: ${reveals.join("; ")}`;
  return { ...info(words, { job, peer, reveals }), isLasting: true };
}

function queuedWords(peer: string, place: number, waiting: number): string {
  return place === 0 ? `${peer} begins with the job` : `waiting at ${peer}: place ${place} of ${waiting}`;
}

function awaitedWords(peer: string, request: string): string {
  return `waiting for ${peer}'s approval (request ${request})`;
}

/** How long a call has waited, and whether the other party is working. */
function unansweredWords(peer: string, waitedMs: number, isWorking: boolean): string {
  const seconds = `${Math.round(waitedMs / 1000)} s`;
  return isWorking
    ? `waiting for ${peer} for ${seconds}; it reports that it is working`
    : `${peer} has not answered for ${seconds}, and does not report that it is working`;
}

function begin(view: JobView, said: JobFields & { readonly party: string }): void {
  if (view.job !== "") view.resumed++;
  view.party = said.party;
  view.role = said.role;
  view.job = said.job;
  view.peers = [...said.peers];
  view.treeCount = said.treeCount;
  view.treesDone = Math.max(view.treesDone, said.startTrees ?? 0);
  view.depthMax = said.depthMax;
  view.parameters = said.parameters;
  view.versions = said.versions;
  view.warning = said.warning ?? null;
  view.membership = recordedMembership(said);
  if (view.state !== "aligning") view.state = "starting";
  view.failure = null;
  const other = said.role === "active" ? "passive" : "active";
  view.parties = [
    partyView(said.party, said.role, true),
    ...said.peers.map((name) => view.parties.find((party) => party.name === name) ?? partyView(name, other, false)),
  ];
}

function partyView(name: string, itsRole: PartyView["role"], self: boolean): PartyView {
  return {
    name,
    role: itsRole,
    self,
    connected: self,
    doing: null,
    featureCount: null,
    sentBytes: 0,
    receivedBytes: 0,
  };
}

function end(view: JobView, state: "finished" | "failed" | "interrupted"): void {
  view.state = state;
  for (const party of view.parties) {
    party.doing = null;
    if (!party.self) party.connected = false;
  }
}
