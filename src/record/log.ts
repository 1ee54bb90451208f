/**
 * A party's log: one line per event, as JSON for programs or text for a terminal. It is made from the public event
 * stream alone, which never contains values of rows, ids, gradients, thresholds or keys.
 */
import { type Emit, eventUses } from "./events.ts";
import { type LogLevel, logLevels } from "./log-line.ts";

export interface LogOptions {
  readonly level: LogLevel;
  /** Text for people instead of JSON. */
  readonly terminal: boolean;
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

export function logTo({ level, terminal, write, now }: LogOptions): Emit {
  let lasting = "";
  return (event) => {
    const line = eventUses(event.type)?.log?.(event) ?? null;
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
