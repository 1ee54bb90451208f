/**
 * A job's record as server-sent events: everything so far, then additions, at most ten times a second. The files on
 * disk are the source, so that a page that is reloaded or opened late gets the same as one that was open all the time.
 * The id of a message is its offset in the two files. A browser that lost its connection, or was hidden for a while,
 * continues from there. Without viewers it does nothing.
 *
 * It often runs in the process of a job: lines are sent unparsed, and the page parses them.
 *
 *   id: <bytes of events.jsonl>.<bytes of own.jsonl>
 *   data: e<a line of events.jsonl>
 *   data: o<a line of own.jsonl>
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { LineTail } from "../base/files/json-lines.ts";
import { eventsFileName, ownFileName } from "../record/job-record.ts";
import { vettingsFileName } from "../record/vetting-log.ts";
import { FolderChanges } from "./folder-changes.ts";

/**
 * Related events, such as the end of a tree and the start of the next, come within moments: the page is redrawn once
 * for them.
 */
const settlingMs = 100;
/** Comment lines that keep a connection open through proxies. */
const heartbeatMs = 15_000;

/** Sends until `response` is closed. @param position the id of the last message that the browser received, or "" */
export async function feedRecord(
  folder: string,
  response: ServerResponse,
  position: string,
  ending: AbortSignal,
): Promise<void> {
  const [eventsOffset, ownOffset] = offsetsOf(position);
  const events = new LineTail(join(folder, eventsFileName), eventsOffset);
  const own = new LineTail(join(folder, ownFileName), ownOffset);
  // Sent again after a lost connection: views know which they have.
  const vettings = new LineTail(join(dirname(folder), vettingsFileName));
  const changes = new FolderChanges(folder, ending);
  let quietSince = Date.now();
  response.write("retry: 1000\n\n");
  try {
    for (let last = false; !response.destroyed;) {
      const sent = await sendAll(events, [own, vettings], response);
      if (last) break;
      if (sent) quietSince = Date.now();
      else if (Date.now() - quietSince > heartbeatMs) {
        response.write(": still here\n\n");
        quietSince = Date.now();
      }
      last = await changes.next(); // lines written before the end are still sent
      if (!last && (events.grown || own.grown)) last = await changes.settle(settlingMs);
    }
  } finally {
    changes.close();
  }
  response.end();
}

/** @returns whether anything was sent */
async function sendAll(events: LineTail, owns: readonly LineTail[], response: ServerResponse): Promise<boolean> {
  for (let sent = false; ; sent = true) {
    const lines = events.next().map((line) => `data: e${line}\n`);
    // The job's event comes first: own views need the names of its parties.
    if (!events.more) lines.push(...owns.flatMap((own) => own.next()).map((line) => `data: o${line}\n`));
    if (lines.length === 0 || response.destroyed) return sent;
    const accepted = response.write(`id: ${events.offset}.${owns[0].offset}\n${lines.join("")}\n`);
    if (!accepted && !response.destroyed) await Promise.race([once(response, "drain"), once(response, "close")]);
  }
}

function offsetsOf(position: string): [number, number] {
  const match = /^(\d{1,9})\.(\d{1,9})$/.exec(position);
  return match === null ? [0, 0] : [Number(match[1]), Number(match[2])];
}
