/**
 * Runs parties as processes on this machine: reads their events, detects their exit, and stops all of them when one
 * fails. The supervisor is not a party: nothing but protocol messages passes between the parties.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isErrorCode, TandemError } from "../base/error.ts";
import { packagePath } from "../base/package-root.ts";
import type { PartyEvent } from "../record/events.ts";

const command = packagePath("bin", "tandem.js");
/** How long the other parties may take to detect and report a failure before they are stopped. */
const graceMs = 5_000;

/** What a supervised party reads. */
export interface PartyFiles {
  readonly config: string;
  /** An Experiment, as JSON. */
  readonly experiment: string;
}

export interface Supervisor {
  /** Starts a party; `onEvent` receives all of its events. */
  start(name: string, role: "party" | "train", files: PartyFiles): void;
  /** The first event of a party that matches. */
  waitFor<T extends PartyEvent["type"]>(name: string, type: T): Promise<Extract<PartyEvent, { type: T }>>;
  /** Settles when every party has exited successfully. @throws TandemError naming the party that failed, and why */
  finished(): Promise<void>;
  /** Stops all processes that still run. */
  stop(): void;
}

/** Makes a supervisor whose parties' events go to `onEvent`. */
export type Supervise = (onEvent: (event: PartyEvent) => void) => Supervisor;

interface Party {
  readonly name: string;
  readonly process: ChildProcess;
  readonly events: PartyEvent[];
  readonly ended: Promise<PartyEnd>;
}

interface PartyEnd {
  readonly name: string;
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  readonly error: Extract<PartyEvent, { type: "error" }> | null;
  readonly stderr: string;
}

export const superviseParties: Supervise = (onEvent) => {
  const parties: Party[] = [];
  const waiting: (() => void)[] = [];
  let failing: (error: TandemError) => void = () => {};
  const failed = new Promise<never>((_, reject) => (failing = reject));
  failed.catch(() => {}); // callers that await it get the error

  const stop = (): void => {
    for (const party of parties) party.process.kill("SIGTERM");
  };

  const start: Supervisor["start"] = (name, role, { config, experiment }) => {
    const child = spawn(
      process.execPath,
      [command, role, "--config", config, "--experiment", experiment, "--supervised"],
      {
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    const events: PartyEvent[] = [];
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-4000)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = JSON.parse(line) as PartyEvent;
      events.push(event);
      onEvent(event);
      for (const wake of waiting.splice(0)) wake();
    });
    const ended = new Promise<PartyEnd>((resolve) => {
      child.once("close", (exitCode, signal) => {
        const error = events.find((event) => event.type === "error") ?? null;
        resolve({ name, signal, exitCode, error, stderr });
      });
    });
    parties.push({ name, process: child, events, ended });
    void watch(ended);
  };

  const watch = async (ended: Promise<PartyEnd>): Promise<void> => {
    if ((await ended).exitCode === 0) return;
    // The other parties get time to report their errors: the cause is chosen among all of them.
    await Promise.race([Promise.all(parties.map((party) => party.ended)), pause(graceMs)]);
    stop();
    failing(causeOf(await Promise.all(parties.map((party) => party.ended))));
  };

  return {
    start,
    stop,
    async waitFor(name, type) {
      const party = parties.find((candidate) => candidate.name === name);
      for (;;) {
        const event = party?.events.find((candidate) => candidate.type === type);
        if (event !== undefined) return event as Extract<PartyEvent, { type: typeof type }>;
        await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), failed]);
      }
    },
    async finished() {
      await Promise.race([Promise.all(parties.map((party) => party.ended)), failed]);
      const bad = (await Promise.all(parties.map((party) => party.ended))).some((end) => end.exitCode !== 0);
      if (bad) await failed;
    },
  };
};

/**
 * The root cause among several failures: a party that died, else an error that is not PARTY_LOST.
 */
function causeOf(ends: readonly PartyEnd[]): TandemError {
  const bad = ends.filter((end) => end.exitCode !== 0);
  const witnesses = bad.filter((end) => end.error !== null).map((end) => `${end.name} says: ${end.error?.message}`);
  const dead = bad.find((end) => end.error === null && end.signal !== "SIGTERM");
  if (dead !== undefined) {
    const how = dead.signal === null ? `exit code ${dead.exitCode}` : dead.signal;
    const detail =
      dead.stderr.trim() === ""
        ? ""
        : `; the end of its stderr: ${dead.stderr.trim().split("\n").slice(-3).join(" | ")}`;
    return new TandemError("PARTY_LOST", [`party ${dead.name} died (${how}${detail})`, ...witnesses].join(". "));
  }
  const first =
    bad.find((end) => end.error !== null && end.error.code !== "PARTY_LOST") ?? bad.find((end) => end.error !== null);
  if (first?.error === null || first === undefined) return new TandemError("PARTY_LOST", "the parties were stopped");
  const code = isErrorCode(first.error.code) ? first.error.code : "INTERNAL";
  return new TandemError(code, first.error.message);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
