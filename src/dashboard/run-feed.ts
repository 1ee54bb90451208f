/**
 * A run as server-sent events: everything so far, then what is added, at most four times a second. The record on disk is
 * the source, so that a page that is loaded again, or comes late, gets the same as one that was there all the time; the
 * id of a message says how much of the record has been sent, and a browser that lost its connection goes on from there.
 * Nothing happens while nobody looks.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { RunReader } from "../report/run-store.ts";

const intervalMs = 250;
/** A long run is sent in pieces, so that the page stays alive while it takes them in. */
const linesPerMessage = 400;
/** Comment lines that keep a connection open through whatever stands between. */
const heartbeatMs = 15_000;

/** Sends until `response` is closed. @param lastId the browser's Last-Event-ID, or "" */
export async function feedRun(folder: string, response: ServerResponse, lastId: string, ending: AbortSignal): Promise<void> {
  const reader = new RunReader(folder);
  let [eventsToSkip, ownToSkip] = positionOf(lastId);
  let [eventCount, ownCount] = [0, 0];
  let quietSince = Date.now();
  response.write("retry: 1000\n\n");
  for (let last = false; !response.destroyed; ) {
    const next = await reader.next();
    const events = next.events.slice(eventsToSkip);
    const own = next.own.slice(ownToSkip);
    eventCount += Math.min(eventsToSkip, next.events.length);
    ownCount += Math.min(ownToSkip, next.own.length);
    eventsToSkip -= Math.min(eventsToSkip, next.events.length);
    ownToSkip -= Math.min(ownToSkip, next.own.length);
    while (events.length > 0 || own.length > 0) {
      // The job's event comes first: own views are named after its parties.
      const batch = { events: events.splice(0, linesPerMessage), own: events.length > 0 ? [] : own.splice(0, linesPerMessage) };
      eventCount += batch.events.length;
      ownCount += batch.own.length;
      quietSince = Date.now();
      const accepted = response.write(`id: ${eventCount}.${ownCount}\ndata: ${JSON.stringify(batch)}\n\n`);
      if (!accepted && !response.destroyed) await Promise.race([once(response, "drain"), once(response, "close")]);
      if (response.destroyed) return;
    }
    if (last) break;
    if (Date.now() - quietSince > heartbeatMs) {
      response.write(": still here\n\n");
      quietSince = Date.now();
    }
    last = await pause(intervalMs, ending); // what was written before the end is still sent
  }
  response.end();
}

function positionOf(id: string): [number, number] {
  const match = /^(\d{1,9})\.(\d{1,9})$/.exec(id);
  return match === null ? [0, 0] : [Number(match[1]), Number(match[2])];
}

/** @returns whether the server is ending */
function pause(ms: number, ending: AbortSignal): Promise<boolean> {
  if (ending.aborted) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      ending.removeEventListener("abort", done);
      resolve(ending.aborted);
    };
    const timer = setTimeout(done, ms);
    ending.addEventListener("abort", done);
  });
}
