/**
 * One hostile job: what it draws, and what came of every message that it changed. Draws depend on the seed, the job's
 * number and the place only, so that a job can be replayed alone.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { TandemError } from "../../../src/base/error.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { fromWireError, isPartyFault } from "../../../src/transport/wire-error.ts";

export class HostileJob {
  readonly seed: number;
  readonly number: number;
  /** The processes that are attacked, besides this one. */
  readonly pids: readonly number[];
  /** How often it was begun. Each time it draws anew. */
  attempt = 0;
  /** Jobs that were begun under its number: one that a party has finished is not begun again. */
  part = 0;
  /** Messages that were sent with other contents than they should have. */
  messages = 0;
  /** Calls that were made with such messages, or out of order, too often, or broken off. */
  calls = 0;
  /** How often a call ended with which code; "answered" without one. */
  readonly outcomes = new Map<string, number>();
  /** What the other party said when it refused. */
  readonly refusals = new Set<string>();
  /** What must not happen, in words. */
  readonly wrong: string[] = [];
  /** The hostile call that took longest until it was answered or refused. */
  slowest = { what: "", ms: 0 };
  /** The fields that were changed, and what else was done, in order. */
  readonly done: string[] = [];

  constructor(seed: number, number: number, pids: readonly number[] = []) {
    this.seed = seed;
    this.number = number;
    this.pids = pids;
  }

  get name(): string {
    return `job-${this.number}${this.part === 0 ? "" : `-${this.part}`}`;
  }

  random(...place: readonly (string | number)[]): SeededRandom {
    const attempt = this.attempt === 0 ? [] : [`attempt ${this.attempt}`];
    return new SeededRandom([this.seed, this.number, ...attempt, ...place].join("/"));
  }

  /** Called when a call or a job has ended. */
  onMoved: () => void = () => {};

  ended(what: string, outcome: string): void {
    this.onMoved();
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (isWrong(outcome)) this.wrong.push(`${what}: ${outcome}`);
  }
}

/** Of a call that a hostile party made, or of a job: the code that it was refused with. */
export function outcomeOf(error: unknown): string {
  const known = error instanceof ConnectError ? fromWireError(error, "attacked") : error;
  if (!(known instanceof TandemError)) return `no error of ours: ${String(error)}`;
  if (isPartyFault(known)) return "INTERNAL";
  const isOdd = error instanceof ConnectError && !error.metadata.has("tandem-code") && !isRefusal(error);
  return isOdd ? `no code: ${error.message}` : known.code;
}

/** The connection, or this stream of it, has ended; or gRPC itself does not take the message. */
function isRefusal(error: ConnectError): boolean {
  const broken = [Code.Unavailable, Code.Canceled, Code.Aborted];
  return broken.includes(error.code) || fromWireError(error, "attacked").code !== "PARTY_LOST";
}

/** A bug, or nothing that the protocol knows. */
function isWrong(outcome: string): boolean {
  return /^(?:INTERNAL|hang|no )/.test(outcome);
}
