/**
 * Checks the requests of nodes that the active party signed, and the answers that passive parties signed, in trees that
 * were never finished and attempts that were refused. Both signatures cover the entries of the tree so far: the answers
 * that a request depends on. A passive party compares these with its own before it answers, so what they contain of its
 * messages is what it has sent. The active party stores all answers before it requests a node that depends on them.
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

/** What a passive party signed with its answer about a node: all entries, those of the node included. */
export interface SignedNodeAnswer {
  readonly peer: string;
  readonly node: number;
  readonly entries: readonly Entry[];
}

/** A message that differs, and the number of events that its sender may have depended on. */
interface Difference {
  readonly before: number;
  readonly peer: string;
  readonly what: string;
  /** Otherwise the active party, if it is not due to what others have answered. */
  readonly isByPeer: boolean;
  /** The nodes that the party had answered, where the request had to be made at all. */
  readonly answered?: ReadonlySet<number>;
}

/** @returns the first deviation in the order of messages */
export function checkSignedNodes(
  job: TreeToCheck,
  signed: readonly SignedNode[],
  answers: readonly SignedNodeAnswer[],
): Finding | null {
  const [first] = [
    ...signed.flatMap((node) => firstDifference(job, node) ?? []),
    ...answers.flatMap((answer) => falseAnswer(job, answer) ?? []),
  ].sort((a, b) => a.before - b.before || Number(b.isByPeer) - Number(a.isByPeer));
  if (first === undefined) return null;
  const { active, tree } = job;
  const { peer, what, isByPeer } = first;
  if (isByPeer) return { party: peer, tree: tree.tree, what };
  const seen = [...acknowledged(job, signed), ...answers.map((one) => ({ ...one, entries: keyed(one.entries) }))];
  const lacking = missingAnswer(job, seen, first);
  if (lacking !== null) return { party: active, tree: tree.tree, what: `${what} (towards ${peer}), and ${lacking}` };
  const unknown = unknownAnswer(job, seen, first);
  if (unknown === null) return { party: active, tree: tree.tree, what: `${what} (towards ${peer})` };
  return { party: null, tree: tree.tree, what: `${what} (${active} towards ${peer}), but ${unknown}` };
}

function firstDifference(job: TreeToCheck, { peer, node, digest, entries }: SignedNode): Difference | null {
  const { events } = job.replayed;
  const expected = job.replayed.request(peer, node);
  const before = expected?.before ?? events.length;
  const due = expected === undefined ? null : keyed(decodeEntries(expected.entries));
  const answered = new Set(entries.flatMap((entry) => (entry.kind === "answer" ? [entry.node] : [])));
  const ofRequest = expected === undefined ? {} : { answered };
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
    return { before: i, peer, what: `${inWords(event)}: ${how}`, isByPeer, ...ofRequest };
  }
  for (const entry of sent.values()) return { before, peer, what: `${inWords(entry)}: unexpected`, isByPeer: false };
  if (expected !== undefined && isSame(expected.digest, digest)) return null;
  const how = expected === undefined ? "unexpected" : "not what follows from the opened data";
  return { before, peer, what: `the request of node ${node}: ${how}`, isByPeer: false, ...ofRequest };
}

/** An answer that is false although everything before it is as agreed. */
function falseAnswer(job: TreeToCheck, { peer, node, entries }: SignedNodeAnswer): Difference | null {
  const expected = job.replayed.request(peer, node);
  if (expected === undefined) return null;
  const events = job.replayed.events.map((event, i) => ({ event, i })).filter(({ event }) => event.peer === peer);
  const known = new Set(events.map(({ event }) => entryKey(event)));
  // An answer may depend on a message of the active party that had not to be sent.
  if (entries.some((entry) => !known.has(entryKey(entry)))) return null;
  const due = keyed(decodeEntries(expected.entries));
  const sent = keyed(entries);
  for (const { event, i } of events) {
    const entry = sent.get(entryKey(event));
    if (entry === undefined && due.has(entryKey(event))) return null;
    if (entry === undefined || job.isOpaque(event.kind) || isSame(entry.digest, event.digest)) continue;
    if (entryFacts[event.kind].sender !== "passive") return null;
    const what = `${inWords(event)}: not what follows from the opened data`;
    return { before: i, peer, what, isByPeer: true };
  }
  return null;
}

/**
 * A request is not sent before the answers of all parties about the nodes above are stored with their signatures: one
 * that the active party does not have shows that it deviated, or left evidence out. Null: it has all of them.
 */
function missingAnswer(
  job: TreeToCheck,
  seen: readonly Acknowledged[],
  { before, peer, answered = new Set() }: Difference,
): string | null {
  for (const event of job.replayed.events.slice(0, before)) {
    const { kind, node } = event;
    const isAnswer = entryFacts[kind].sender === "passive" && (kind === "answer" || kind === "sums");
    if (!isAnswer || event.peer === peer || !answered.has(node)) continue;
    if (!seen.some((one) => one.peer === event.peer && one.entries.has(entryKey(event))))
      return `its evidence lacks ${inWords(event)} that ${event.peer} has signed`;
  }
  return null;
}

/** Why a difference may be due to another party: an answer that no opening has; null: it may not. */
function unknownAnswer(job: TreeToCheck, seen: readonly Acknowledged[], { before, peer }: Difference): string | null {
  if (job.opaque.length > 0) return `${job.opaque[0]} cannot be recomputed`;
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
function* acknowledged(job: TreeToCheck, signed: readonly SignedNode[]): Generator<Acknowledged> {
  for (const [peer, pair] of Object.entries(job.tree.pairs))
    yield { peer, entries: keyed(decodeEntries(bytesFrom(pair.entries))) };
  for (const { peer, entries } of signed) yield { peer, entries: keyed(entries) };
}

function isEntryOf({ peer, entries }: Acknowledged, event: Event): boolean {
  const entry = entries.get(entryKey(event));
  return peer === event.peer && entry !== undefined && isSame(entry.digest, event.digest);
}
