/** One line of a party's log: text for people, facts for programs. Runs in browsers too. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

type Facts = Readonly<Record<string, string | number | null | readonly string[]>>;

export interface LogLine {
  readonly level: LogLevel;
  readonly words: string;
  readonly facts: Facts;
  /** Every attempt at a job repeats it: a terminal shows it once. */
  readonly isLasting?: boolean;
}

export function info(words: string, facts: Facts): LogLine {
  return { level: "info", words, facts };
}

export function warn(words: string, facts: Facts): LogLine {
  return { level: "warn", words, facts };
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** The message of an internal error may contain anything, so it is not logged. */
export function failed(level: "warn" | "error", words: string, { code, message }: Failure, facts: Facts): LogLine {
  const shown = code === "INTERNAL" ? "an internal error" : message;
  return { level, words: `${words}${shown} (${code})`, facts: { ...facts, code, message: shown } };
}
