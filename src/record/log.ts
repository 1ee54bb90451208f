/**
 * A party's log: one line per event, as JSON for programs or in words for a terminal. It is made from the public event
 * stream alone, which never has a value of a row, an id, a gradient, a threshold or a key. What an internal error
 * says is not under our control, so only that there was one is logged.
 */
import { sumsWord } from "../privacy/spending.ts";
import type { ErrorCode } from "../base/error.ts";
import type { Disclosure } from "../privacy/disclosures.ts";
import { blocksWord } from "./crew-view.ts";
import type { Emit, PartyEvent } from "./events.ts";
import { disclosureText } from "../privacy/leakage.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Words for people instead of JSON. */
  readonly terminal: boolean;
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

interface LogLine {
  readonly level: LogLevel;
  readonly words: string;
  readonly facts: Readonly<Record<string, string | number | null | readonly string[]>>;
  /** Words that every attempt at a job would say again: people read them once. */
  readonly isLasting?: boolean;
}

export function logTo({ level, terminal, write, now }: LogOptions): Emit {
  let lasting = "";
  return (event) => {
    const line = lineOf(event);
    if (line === null || logLevels.indexOf(line.level) < logLevels.indexOf(level)) return;
    if (line.isLasting === true && terminal) {
      if (line.words === lasting) return;
      lasting = line.words;
    }
    const time = now().toISOString();
    if (terminal) write(`${time.slice(0, 19).replace("T", " ")}  ${event.party}: ${line.words}\n`);
    else
      write(`${JSON.stringify({ time, level: line.level, event: event.type, party: event.party, ...line.facts })}\n`);
  };
}

type Event<T extends PartyEvent["type"]> = Extract<PartyEvent, { readonly type: T }>;

/** Per kind of event its line; null: of no interest to a log. */
const lines: { readonly [T in PartyEvent["type"]]: ((event: Event<T>) => LogLine | null) | null } = {
  listening: ({ port, process }) => info(`listening on port ${port}`, { port, process }),
  aligning: ({ peer, job, ownIdCount, peerIdCount }) =>
    info(`aligning ${ownIdCount} ids with the ${peerIdCount} of ${peer} for job ${job}`, {
      peer,
      job,
      ownIdCount,
      peerIdCount,
    }),
  aligned: ({ peer = null, job, commonCount }) =>
    info(`aligned for job ${job}: ${commonCount} in common`, { peer, job, commonCount }),
  joined: ({ peer, job = null, featureCount }) => {
    const take = featureCount === 1 ? "1 feature takes" : `${featureCount} features take`;
    return info(`${peer} joined with job ${job ?? ""}; ${take} part`, { peer, job, featureCount });
  },
  resumed: ({ job, trees, treeCount }) =>
    info(`job ${job} goes on after ${trees} of ${treeCount} trees`, { job, trees, treeCount }),
  unanswered: ({ job, peer, waitedMs, isWorking }) => ({
    level: isWorking ? "info" : "warn",
    words: `job ${job}: ${unansweredWords(peer, waitedMs, isWorking)}`,
    facts: { job, peer, waitedMs, working: String(isWorking) },
  }),
  waiting: ({ job, delayMs, ...trouble }) =>
    failed("warn", `job ${job} waits ${(delayMs / 1000).toFixed(1)} s: `, trouble, { job, delayMs }),
  "passive-tree": ({ peer, job, tree, treeCount }) =>
    info(`tree ${tree + 1} of ${treeCount} finished`, { peer, job, tree: tree + 1, treeCount }),
  "job-ended": ({ peer, job, failure }) =>
    failure === null
      ? info(`job ${job} finished`, { peer, job })
      : failed("error", `job ${job} failed: `, failure, { peer, job }),
  refused: ({ peer, ...trouble }) => failed("warn", `refused ${peer}: `, trouble, { peer }),
  scored: ({ peer, job, model, requestCount, idCount, unknownCount }) =>
    info(
      `answered ${requestCount} requests of ${peer} for scores of ${idCount} ids with the model of job ${job}; ` +
        `${unknownCount} ids were unknown`,
      { peer, job, model, requestCount, idCount, unknownCount },
    ),
  explained: ({ peer, job, model, splitCount }) =>
    info(`told ${peer} which of ${splitCount} splits of the model of job ${job} share a feature within a tree`, {
      peer,
      job,
      model,
      splitCount,
    }),
  alarm: ({ peer, words }) => ({ level: "warn", words: `ALARM about ${peer}: ${words}`, facts: { peer, words } }),
  notice: ({ words }) => ({ ...info(words, { words }), level: "warn" }),
  "engine-awaited": ({ why }) => ({ level: "warn", words: `waits for the engine: ${why}`, facts: { message: why } }),
  "workers-awaited": ({ workers, wanted }) =>
    info(`waits for workers: ${workers} of ${wanted} are there`, { workers, wanted }),
  "crew-opened": ({ blocks, rowsPerBlock }) =>
    info(`its workers have ${blocks} ${blocks === 1 ? "block" : "blocks"} of up to ${rowsPerBlock} rows`, {
      blocks,
      rowsPerBlock,
    }),
  "tasks-opened": ({ workers }) =>
    info(`its ${workers === 1 ? "worker does" : `${workers} workers do`} its encryption and decryption`, { workers }),
  "worker-joined": ({ worker, threads }) =>
    info(`worker ${worker} is there, with ${threads} ${threads === 1 ? "thread" : "threads"}`, { worker, threads }),
  "worker-lost": ({ worker, blocks }) => ({
    level: "warn",
    words: `worker ${worker} is gone; it held ${blocksWord(blocks)}`,
    facts: { worker, blocks },
  }),
  "block-moved": ({ block, moves, worker }) => ({
    level: "warn",
    words: `block ${block} went to another worker${worker === undefined ? "" : `, ${worker}`}`,
    facts: { block, moves, worker: worker ?? null },
  }),
  "crew-progress": null,
  "epoch-lost": ({ code }) => ({
    level: "warn",
    words: `this attempt's work at the workers is lost (${code})`,
    facts: { code },
  }),
  "turned-away": ({ address, why }) => ({
    level: "warn",
    words: `turned away a connection from ${address}: ${why}`,
    facts: { address, message: why },
  }),
  error: (trouble) => failed("error", "", trouble, {}),
  stopping: () => info("stopping", {}),
  stopped: () => info("stopped", {}),
  "passive-result": ({ result: { cpuSeconds, peakRssBytes } }) => ({
    level: "debug",
    words: `used ${cpuSeconds.toFixed(1)} s of CPU`,
    facts: { cpuSeconds, peakRssBytes },
  }),
  job: ({ job, peers, disclosures }) => (disclosures === undefined ? null : revealed(job, peers[0], disclosures)),
  key: null,
  data: null,
  progress: null,
  ledger: null,
  budget: ({ peer, spent: { sumsPerPerson, noisySumsPerPerson, outcomesPerPerson, scoredPeople } }) =>
    info(
      `${peer} has had ${rounded(sumsPerPerson)} exact sums per person in all jobs (${sumsWord(sumsPerPerson)}), ` +
        `${rounded(noisySumsPerPerson)} with noise, ${rounded(outcomesPerPerson)} outcomes, ${scoredPeople} scores`,
      { peer, sumsPerPerson, noisySumsPerPerson, outcomesPerPerson, scoredPeople },
    ),
  "alignment-progress": null,
  layout: null,
  resolution: null,
  tree: null,
  "active-result": null,
};

function lineOf<T extends PartyEvent["type"]>(event: Event<T>): LogLine | null {
  return (lines[event.type as T] as ((event: Event<T>) => LogLine | null) | null)?.(event) ?? null;
}

/** Whom a call waits for, since when, and whether anybody is there. */
export function unansweredWords(peer: string, waitedMs: number, isWorking: boolean): string {
  const seconds = `${Math.round(waitedMs / 1000)} s`;
  return isWorking
    ? `waiting for ${peer} for ${seconds}; it says that it is working`
    : `${peer} has not answered for ${seconds}, and does not say that it is working`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(2)));
}

interface Trouble {
  readonly code: ErrorCode;
  readonly message: string;
}

function failed(level: LogLevel, words: string, trouble: Trouble, facts: LogLine["facts"]): LogLine {
  const message = said(trouble);
  return { level, words: `${words}${message} (${trouble.code})`, facts: { ...facts, code: trouble.code, message } };
}

/** What the party's owner lets the job have, before it takes something. */
function revealed(job: string, peer: string, disclosures: readonly Disclosure[]): LogLine {
  const reveals = disclosures.filter(({ learner }) => learner === peer).map(disclosureText);
  const words = `job ${job} will reveal to ${peer}, at most: ${reveals.join("; ")}`;
  return { ...info(words, { job, peer, reveals }), isLasting: true };
}

function info(words: string, facts: LogLine["facts"]): LogLine {
  return { level: "info", words, facts };
}

function said({ code, message }: Trouble): string {
  return code === "INTERNAL" ? "an internal error" : message;
}
