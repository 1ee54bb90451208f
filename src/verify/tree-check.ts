/**
 * Compares the signed messages of one tree with the expected ones, in the order in which they had to be sent. Up to the
 * first difference the job was as agreed, so the sender of that message deviated.
 */
import { entryFacts, type EntryKind } from "../messages/table.ts";
import { decodeEntries, type Entry, entryKey, inWords, isSame, keyed } from "../protocol/chain/entries.ts";
import type { TreeEvidence } from "../store/evidence-files.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import type { Ciphertexts } from "./ciphertexts.ts";
import type { Finding } from "./findings.ts";
import type { Event, ReplayedEvents } from "./replayed-events.ts";

export interface TreeToCheck {
  readonly active: string;
  /** Without pairs if no party has signed it. */
  readonly tree: Pick<TreeEvidence, "tree" | "pairs">;
  readonly replayed: ReplayedEvents;
  /** Compares random ciphertexts; null: all messages follow from the openings, and are compared by their digest. */
  readonly ciphertexts: Ciphertexts | null;
  /** Whether messages of a kind contain fresh randomness that is not opened. */
  readonly isOpaque: (kind: EntryKind) => boolean;
  /** Opaque answers of this tree and earlier ones; added to. */
  readonly opaque: string[];
}

export interface TreeChecked {
  readonly finding: Finding | null;
  /** Answers that were not stored, and so not compared. */
  readonly notStored: readonly string[];
}

export type Compared = "same" | "deviates" | "not stored" | "opaque";

/** @param isFull compare ciphertexts too */
export async function checkTree(job: TreeToCheck, isFull: boolean): Promise<TreeChecked> {
  const notStored: string[] = [];
  return { finding: await firstDeviation(job, isFull, notStored), notStored };
}

async function firstDeviation(job: TreeToCheck, isFull: boolean, notStored: string[]): Promise<Finding | null> {
  const entries = new Map(
    Object.entries(job.tree.pairs).map(([peer, pair]) => [peer, keyed(decodeEntries(bytesFrom(pair.entries)))]),
  );
  /** Parties that have answered nodes of this tree, and not signed it. */
  const unsigned = new Set<string>();
  if (isFull) {
    const gradients = (await job.ciphertexts?.gradientsDeviate(job)) ?? null;
    if (gradients !== null) return gradients;
  }
  const unknown = (): string[] => [
    ...notStored.map((answer) => `no party has stored ${answer}`),
    ...job.opaque.map((answer) => `${answer} cannot be recomputed`),
    ...Array.from(unsigned, (peer) => `${peer} has not signed what it answered in this tree`),
  ];
  for (const event of job.replayed.events) {
    const { peer, kind, node } = event;
    if (!entries.has(peer)) {
      if (entryFacts[kind].sender === "passive" && entryFacts[kind].about === "node") unsigned.add(peer);
      continue;
    }
    const entry = entries.get(peer)?.get(entryKey(event));
    entries.get(peer)?.delete(entryKey(event));
    const outcome = entry === undefined ? "deviates" : await compare(job, event, entry, isFull);
    const what = `${inWords({ kind, node })} from ${peer}`;
    if (outcome === "not stored" && job.ciphertexts?.isDue(job, event) === true)
      return deviation(job, job.active, `${what}: not in its evidence`);
    if (outcome === "not stored") notStored.push(what);
    if (outcome === "opaque" && entryFacts[kind].sender === "passive") job.opaque.push(what);
    if (outcome === "deviates") return blame(job, event, entry === undefined, unknown());
  }
  for (const [peer, rest] of entries)
    for (const { kind, node } of rest.values())
      return blameActive(job, kind, `${inWords({ kind, node })}: unexpected`, peer, unknown());
  return null;
}

async function compare(job: TreeToCheck, event: Event, entry: Entry, isFull: boolean): Promise<Compared> {
  if (job.isOpaque(event.kind)) return "opaque";
  if (job.ciphertexts !== null) return job.ciphertexts.compare(job, event, entry, isFull);
  return isSame(event.digest, entry.digest) ? "same" : "deviates";
}

function blame(job: TreeToCheck, { peer, kind, node }: Event, isMissing: boolean, unknown: readonly string[]): Finding {
  const what = `${inWords({ kind, node })}: ${isMissing ? "missing" : "not what follows from the opened data"}`;
  // A missing answer means that it was never requested.
  const isAnswer = entryFacts[kind].sender === "passive" && !isMissing;
  if (isAnswer) return deviation(job, peer, what);
  return blameActive(job, kind, what, peer, unknown);
}

/**
 * Requests and decisions depend on answers: without these the deviation cannot be attributed.
 * @param unknown why answers are not known
 */
function blameActive(
  job: TreeToCheck,
  kind: EntryKind,
  what: string,
  peer: string,
  unknown: readonly string[],
): Finding {
  const { active } = job;
  const dependsOnAnswers = entryFacts[kind].about === "node" || entryFacts[kind].sender === "passive";
  if (unknown.length === 0 || !dependsOnAnswers) return deviation(job, active, `${what} (towards ${peer})`);
  const { tree } = job.tree;
  return { party: null, tree, what: `${what} (${active} towards ${peer}), but ${unknown[0]}` };
}

function deviation({ tree: { tree } }: TreeToCheck, party: string, what: string): Finding {
  return { party, tree, what };
}
