/** A relay's log: one line per event, as JSON for programs or in words for a terminal. */
import type { RelayEvent } from "./relay-options.ts";

export const relayLogLevels = ["debug", "info", "warn", "error"] as const;
type Level = (typeof relayLogLevels)[number];

export interface RelayLogOptions {
  readonly level: Level;
  /** Text for people instead of JSON. */
  readonly terminal: boolean;
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

/** Lines about refused connections within a minute: a flood is counted by the metrics. */
const refusedPerMinute = 20;

export function relayLog({ level, terminal, write, now }: RelayLogOptions): (event: RelayEvent) => void {
  let minute = 0;
  let refused = 0;
  return (event) => {
    const [own, words] = lineOf(event);
    if (relayLogLevels.indexOf(own) < relayLogLevels.indexOf(level)) return;
    const at = now();
    if (event.type === "refused") {
      const thisMinute = Math.floor(at.getTime() / 60_000);
      if (thisMinute !== minute) refused = 0;
      minute = thisMinute;
      if (++refused > refusedPerMinute) return;
    }
    const { type, ...facts } = event;
    const time = at.toISOString();
    if (terminal) write(`${time.slice(0, 19).replace("T", " ")}  relay: ${words}\n`);
    else write(`${JSON.stringify({ time, level: own, event: type, ...facts })}\n`);
  };
}

function lineOf(event: RelayEvent): readonly [Level, string] {
  switch (event.type) {
    case "listening":
      return ["info", `listening on port ${event.port}, with ${event.rooms} ${event.rooms === 1 ? "room" : "rooms"}`];
    case "connected":
      return ["debug", `${event.address} is the ${event.end} end of room ${event.room}`];
    case "joined":
      return ["info", `room ${event.room}: joined the two ends`];
    case "separated":
      return [
        "info",
        `room ${event.room}: an end closed after ${event.seconds} s, with ` +
          `${event.bytesToPassive} bytes to the passive and ${event.bytesToActive} to the active party`,
      ];
    case "absent":
      return ["warn", `room ${event.room}: ${event.address} found no connection of the passive end`];
    case "refused":
      return ["warn", `refused ${event.address}: ${event.why}`];
    case "stopping":
      return ["info", "stopping"];
    case "stopped":
      return ["info", "stopped"];
  }
}
