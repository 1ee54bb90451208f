/**
 * The public event stream of a party: what a supervisor, a terminal or a page may see of a job. Never a row's value, a
 * gradient, a label, a threshold or a key. Each event is declared once, in a table of events/.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { EventDefinition, EventIn } from "./event.ts";
import { alignmentEvents } from "./events/alignment-events.ts";
import { crewEvents } from "./events/crew-events.ts";
import { jobEvents } from "./events/job-events.ts";
import { privacyEvents } from "./events/privacy-events.ts";
import { processEvents } from "./events/process-events.ts";
import { trainingEvents } from "./events/training-events.ts";
import { instant, isLineOf, toSchemas, text } from "./fields.ts";

export const events = {
  ...processEvents,
  ...jobEvents,
  ...alignmentEvents,
  ...trainingEvents,
  ...privacyEvents,
  ...crewEvents,
};

export type EventType = keyof typeof events;
export type EventOf<T extends EventType> = EventIn<typeof events, T>;
/** An event of a passive party that serves several jobs names its job; where it names none, it is about the party. */
export type PartyEvent = EventOf<EventType> & { readonly job?: string };
export type Emit = (event: PartyEvent) => void;

/** An event and when it happened, in milliseconds since the epoch. */
export type StampedEvent = PartyEvent & { readonly at: number };

/** How an event appears in the log, the terminal, the view and Prometheus; undefined: unknown to this version. */
export function eventUses(type: EventType): Omit<EventDefinition<Record<never, never>>, "schema"> | undefined {
  // Each entry's functions are called with events of its own type only.
  return Object.hasOwn(events, type) ? (events[type] as never) : undefined;
}

const schemas = toSchemas(events);
const stamped = z.object({ at: instant, party: text });

/** Whether a line of a record is valid. Others are skipped: the file may have been edited by hand. */
export function isStampedEvent(line: unknown): line is StampedEvent {
  return stamped.safeParse(line).success && isLineOf(schemas, "type", line);
}
