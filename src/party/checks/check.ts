/**
 * One check of `tandem doctor`, and of what `train` and `party` look at before they begin: what was found, and for what
 * is wrong who has to do what. A failure of another company never asks this one to act, and the other way round.
 */
import { type ErrorCode, TandemError } from "../../base/error.ts";

export type CheckState = "ok" | "warning" | "failed" | "skipped";

export interface Check {
  /** What was looked at: "key", "TCP", ... */
  readonly name: string;
  readonly state: CheckState;
  readonly words: string;
  /** The party that has to act, and what it must do, where the words do not say it. */
  readonly who?: string;
  readonly todo?: string;
  /** Of the error that a command reports for it. */
  readonly code?: ErrorCode;
}

export interface Trouble {
  readonly code: ErrorCode;
  readonly words: string;
  readonly who: string;
  /** Completes "<who> must ...". */
  readonly todo: string;
}

export function ok(name: string, words: string): Check {
  return { name, state: "ok", words };
}

export function skipped(name: string, words: string): Check {
  return { name, state: "skipped", words };
}

export function warning(name: string, trouble: Omit<Trouble, "code">): Check {
  return { name, state: "warning", ...trouble };
}

export function failed(name: string, trouble: Trouble): Check {
  return { name, state: "failed", ...trouble };
}

/** The sentence for a terminal: what was found, and who has to do what. */
export function wordsOf({ words, who, todo }: Pick<Check, "words" | "who" | "todo">): string {
  return who === undefined || todo === undefined ? words : `${words}. ${who} must ${todo}`;
}

/** As the error of a command that cannot begin. */
export function toError(trouble: Trouble, cause?: unknown): TandemError {
  return new TandemError(trouble.code, wordsOf(trouble), cause === undefined ? {} : { cause });
}

/** @throws TandemError for the first check that failed */
export function requireAll(checks: readonly Check[]): void {
  const wrong = checks.find(({ state }) => state === "failed");
  if (wrong !== undefined) throw new TandemError(wrong.code ?? "USAGE", wordsOf(wrong));
}

/** Of an error in this party's own files, which already says where it is and what to do. */
export function fromError(name: string, who: string, error: unknown): Check {
  if (!(error instanceof TandemError)) throw error;
  return { name, state: "failed", words: error.message, code: error.code, who };
}
