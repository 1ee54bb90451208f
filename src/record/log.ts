/**
 * A party's log: one line per event, as JSON for programs or in words for a terminal. It is made from the public event
 * stream alone, which never has a value of a row, an id, a gradient, a threshold or a key. What an internal error
 * says is not under our control, so only that there was one is logged.
 */
import type { ErrorCode } from "../base/error.ts";
import type { Disclosure } from "../privacy/disclosures.ts";
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
  readonly facts: Readonly<Record<string, string | number | null>>;
}

export function logTo({ level, terminal, write, now }: LogOptions): Emit {
  return (event) => {
    const line = lineOf(event);
    if (line === null || logLevels.indexOf(line.level) < logLevels.indexOf(level)) return;
    const time = now().toISOString();
    if (terminal) write(`${time.slice(0, 19).replace("T", " ")}  ${event.party}: ${line.words}\n`);
    else
      write(`${JSON.stringify({ time, level: line.level, event: event.type, party: event.party, ...line.facts })}\n`);
  };
}

/** @returns null for what is of no interest to a log */
function lineOf(event: PartyEvent): LogLine | null {
  switch (event.type) {
    case "listening":
      return info(`listening on port ${event.port}`, { port: event.port, process: event.process });
    case "aligning":
      return info(
        `aligning ${event.ownIdCount} ids with the ${event.peerIdCount} of ${event.peer} for job ${event.job}`,
        { peer: event.peer, job: event.job, ownIdCount: event.ownIdCount, peerIdCount: event.peerIdCount },
      );
    case "aligned":
      return info(`aligned for job ${event.job}: ${event.commonCount} in common`, {
        peer: event.peer ?? null,
        job: event.job,
        commonCount: event.commonCount,
      });
    case "joined":
      return info(`${event.peer} joined with job ${event.job ?? ""}; ${event.featureCount} features take part`, {
        peer: event.peer,
        job: event.job ?? null,
        featureCount: event.featureCount,
      });
    case "resumed":
      return info(`job ${event.job} goes on after ${event.trees} of ${event.treeCount} trees`, {
        job: event.job,
        trees: event.trees,
        treeCount: event.treeCount,
      });
    case "waiting":
      return {
        level: "warn",
        words: `job ${event.job} waits ${(event.delayMs / 1000).toFixed(1)} s: ${said(event)} (${event.code})`,
        facts: { job: event.job, delayMs: event.delayMs, code: event.code, message: said(event) },
      };
    case "passive-tree":
      return info(`tree ${event.tree + 1} of ${event.treeCount} finished`, {
        peer: event.peer,
        job: event.job,
        tree: event.tree + 1,
        treeCount: event.treeCount,
      });
    case "job-ended": {
      const { peer, job, failure } = event;
      if (failure === null) return info(`job ${job} finished`, { peer, job });
      return {
        level: "error",
        words: `job ${job} failed: ${said(failure)} (${failure.code})`,
        facts: { peer, job, code: failure.code, message: said(failure) },
      };
    }
    case "refused":
      return {
        level: "warn",
        words: `refused ${event.peer}: ${said(event)} (${event.code})`,
        facts: { peer: event.peer, code: event.code, message: said(event) },
      };
    case "scored": {
      const { peer, job, model, requestCount, idCount, unknownCount } = event;
      return info(
        `answered ${requestCount} requests of ${peer} for scores of ${idCount} ids with the model of job ${job}; ` +
          `${unknownCount} ids were unknown`,
        { peer, job, model, requestCount, idCount, unknownCount },
      );
    }
    case "turned-away":
      return {
        level: "warn",
        words: `turned away a connection from ${event.address}: ${event.why}`,
        facts: { address: event.address, message: event.why },
      };
    case "error":
      return {
        level: "error",
        words: `${said(event)} (${event.code})`,
        facts: { code: event.code, message: said(event) },
      };
    case "stopping":
      return info("stopping", {});
    case "stopped":
      return info("stopped", {});
    case "passive-result":
      return {
        level: "debug",
        words: `used ${event.result.cpuSeconds.toFixed(1)} s of CPU`,
        facts: { cpuSeconds: event.result.cpuSeconds, peakRssBytes: event.result.peakRssBytes },
      };
    case "job":
      return event.disclosures === undefined ? null : revealed(event.job, event.peers[0], event.disclosures);
    case "key":
    case "data":
    case "progress":
    case "ledger":
    case "alignment-progress":
    case "layout":
    case "tree":
    case "active-result":
      return null;
  }
}

/** What the party's owner lets the job have, before it takes something. */
function revealed(job: string, peer: string, disclosures: readonly Disclosure[]): LogLine {
  const reveals = disclosures
    .filter(({ learner }) => learner === peer)
    .map(disclosureText)
    .join("; ");
  return info(`job ${job} will reveal to ${peer}, at most: ${reveals}`, { job, peer, reveals });
}

function info(words: string, facts: LogLine["facts"]): LogLine {
  return { level: "info", words, facts };
}

function said({ code, message }: { readonly code: ErrorCode; readonly message: string }): string {
  return code === "INTERNAL" ? "an internal error" : message;
}
