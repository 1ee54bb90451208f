/**
 * Checks the requests of nodes that the active party signed, in trees that were never finished and attempts that were
 * refused. Its signature covers the request and the entries of the tree so far: the answers that the request depends
 * on. A passive party compares these with its own before it answers, so what they contain of its messages is what it
 * has sent.
 */
import { entryFacts } from "../messages/table.ts";
import { type Entry, entryKey, decodeEntries, inWords, isSame, keyed } from "../protocol/chain/entries.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import type { Finding } from "./findings.ts";
import type { Event } from "./replayed-events.ts";
import type { TreeToCheck } from "./tree-check.ts";

export interface SignedNode {
  readonly peer: string;
  readonly node: number;
  readonly digest: Uint8Array;
  readonly entries: readonly Entry[];
}

/** A message that differs, and the number of events that its sender may have depended on. */
interface Difference {
  readonly before: number;
  readonly peer: string;
  readonly what: string;
  /** Otherwise the active party, if it is not due to what others have answered. */
  readonly isByPeer: boolean;
}

/** @returns the first deviation in the order of messages */
export function checkSignedNodes(job: TreeToCheck, signed: readonly SignedNode[]): Finding | null {
  const [first] = signed
    .flatMap((node) => firstDifference(job, node) ?? [])
    .sort((a, b) => a.before - b.before || Number(b.isByPeer) - Number(a.isByPeer));
  if (first === undefined) return null;
  const { active, tree } = job;
  const { peer, what, isByPeer } = first;
  if (isByPeer) return { party: peer, tree: tree.tree, what };
  const unknown = unknownAnswer(job, signed, first);
  if (unknown === null) return { party: active, tree: tree.tree, what: `${what} (towards ${peer})` };
  return { party: null, tree: tree.tree, what: `${what} (${active} towards ${peer}), but ${unknown}` };
}

function firstDifference(job: TreeToCheck, { peer, node, digest, entries }: SignedNode): Difference | null {
  const { events } = job.replayed;
  const expected = job.replayed.request(peer, node);
  const before = expected?.before ?? events.length;
  const due = expected === undefined ? null : keyed(decodeEntries(expected.entries));
  const sent = keyed(entries);
  for (const [i, event] of events.entries()) {
    if (event.peer !== peer) continue;
    const entry = sent.get(entryKey(event));
    sent.delete(entryKey(event));
    const isDue = due?.has(entryKey(event)) ?? entry !== undefined;
    if (entry === undefined && !isDue) continue;
    if (entry !== undefined && isDue && (job.isOpaque(event.kind) || isSame(entry.digest, event.digest))) continue;
    const isByPeer = entry !== undefined && entryFacts[event.kind].sender === "passive" && isDue;
    const how = entry === undefined ? "missing" : isDue ? "not what follows from the opened data" : "unexpected";
    return { before: i, peer, what: `${inWords(event)}: ${how}`, isByPeer };
  }
  for (const entry of sent.values()) return { before, peer, what: `${inWords(entry)}: unexpected`, isByPeer: false };
  if (expected !== undefined && isSame(expected.digest, digest)) return null;
  const how = expected === undefined ? "unexpected" : "not what follows from the opened data";
  return { before, peer, what: `the request of node ${node}: ${how}`, isByPeer: false };
}

/** Why a difference may be due to another party: an answer that no opening has; null: it may not. */
function unknownAnswer(job: TreeToCheck, signed: readonly SignedNode[], { before, peer }: Difference): string | null {
  if (job.opaque.length > 0) return `${job.opaque[0]} cannot be recomputed`;
  const seen = [...acknowledged(job, signed)];
  for (const event of job.replayed.events.slice(0, before)) {
    if (entryFacts[event.kind].sender !== "passive" || entryFacts[event.kind].about !== "node") continue;
    if (job.isOpaque(event.kind)) return `${inWords(event)} from ${event.peer} cannot be recomputed`;
    if (event.peer !== peer && !seen.some((one) => isEntryOf(one, event)))
      return `no party has stored ${inWords(event)} from ${event.peer}`;
  }
  return null;
}

type Acknowledged = Pick<Event, "peer"> & { readonly entries: ReadonlyMap<string, Entry> };

/** What passive parties have answered, by their signed trees and the requests that the active party signed for them. */
export function* acknowledged(job: TreeToCheck, signed: readonly SignedNode[]): Generator<Acknowledged> {
  for (const [peer, pair] of Object.entries(job.tree.pairs))
    yield { peer, entries: keyed(decodeEntries(bytesFrom(pair.entries))) };
  for (const { peer, entries } of signed) yield { peer, entries: keyed(entries) };
}

function isEntryOf({ peer, entries }: Acknowledged, event: Event): boolean {
  const entry = entries.get(entryKey(event));
  return peer === event.peer && entry !== undefined && isSame(entry.digest, event.digest);
}
