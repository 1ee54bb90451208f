/**
 * Compares the messages of one tree, as both sides have signed them, with what they had to be. Messages are looked at
 * in the order in which they had to be sent. Up to the first that differs the job was the one that was agreed on, so
 * its sender is the one who deviated.
 *
 * Ciphertexts are nobody's to compute again by chance: gradients are encrypted once more with the nonces of the
 * active party, and answers are decrypted with its key. Only where both hold can sums be blamed on who sent them, and
 * decisions on who took them.
 */
import { assert } from "../base/assert.ts";
import { entryFacts, type EntryKind } from "../messages/table.ts";
import { digests } from "../protocol/chain/digests.ts";
import { decodeEntries, type Entry, inWords, isSame } from "../protocol/chain/entries.ts";
import { fromClearMessage } from "../scheme/replay/clear-message.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { ReplayedRound, SchemeReplay } from "../scheme/sent-scheme.ts";
import type { TreeEvidence } from "../store/evidence-files.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import { ActiveSetUpSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { decodeMessage } from "../wire/scheme-message.ts";
import type { Finding } from "./findings.ts";
import type { Event, ReplayedEvents } from "./replayed-events.ts";

/** A round's gradients, as far as they were made again: per peer the digest that they must have. */
export interface RoundCheck {
  readonly round: ReplayedRound;
  /** What the active party has kept of the round's first tree. */
  readonly recipe: TreeEvidence["recipe"];
  /** Digest of the messages, null: they cannot be made again; undefined: not tried yet. */
  remade?: Uint8Array | null;
  /** Per peer what was signed. */
  readonly signed: Map<string, Uint8Array>;
}

export interface TreeToCheck {
  readonly active: string;
  readonly tree: TreeEvidence;
  readonly replayed: ReplayedEvents;
  readonly replay: SchemeReplay;
  readonly round: RoundCheck;
  /** Of the beginning of the job. */
  readonly setUpLayout: GradientLayout;
  readonly people: number;
}

/** @param isFull ciphertexts too */
export async function checkTree(job: TreeToCheck, isFull: boolean): Promise<Finding | null> {
  const entries = new Map(
    Object.entries(job.tree.pairs).map(([peer, pair]) => [peer, keyed(decodeEntries(bytesFrom(pair.entries)))]),
  );
  if (isFull) {
    const gradients = await gradientsDeviate(job);
    if (gradients !== null) return gradients;
  }
  const unseen: string[] = [];
  for (const event of job.replayed.events) {
    const { peer, kind, node } = event;
    const entry = entries.get(peer)?.get(`${kind}/${node}`);
    entries.get(peer)?.delete(`${kind}/${node}`);
    const outcome = entry === undefined ? "deviates" : await compare(job, event, entry, isFull);
    if (outcome === "unseen") unseen.push(`${inWords({ kind, node })} from ${peer}`);
    if (outcome === "deviates") return blame(job, event, entry === undefined, unseen);
  }
  for (const [peer, rest] of entries)
    for (const { kind, node } of rest.values())
      return whoAsks(job, kind, `${inWords({ kind, node })}: where nothing was due`, peer, unseen);
  return null;
}

function blame(job: TreeToCheck, { peer, kind, node }: Event, isMissing: boolean, unseen: readonly string[]): Finding {
  const what = `${inWords({ kind, node })}: ${isMissing ? "missing" : "not what follows from the opened data"}`;
  // What was never answered was never asked for.
  const isAnswer = entryFacts[kind].sender === "passive" && !isMissing;
  if (isAnswer) return deviation(job, peer, what);
  return whoAsks(job, kind, what, peer, unseen);
}

/** Who asks and decides goes by answers: what nobody has kept cannot be held against anybody. */
function whoAsks(job: TreeToCheck, kind: EntryKind, what: string, peer: string, unseen: readonly string[]): Finding {
  const { active } = job;
  const goesByAnswers = entryFacts[kind].about === "node" || entryFacts[kind].sender === "passive";
  if (unseen.length === 0 || !goesByAnswers) return deviation(job, active, `${what} (towards ${peer})`);
  const { tree } = job.tree;
  return { party: null, tree, what: `${what} (${active} towards ${peer}), but nobody has kept ${unseen[0]}` };
}

function deviation({ tree: { tree } }: TreeToCheck, party: string, what: string): Finding {
  return { party, tree, what };
}

async function compare(
  job: TreeToCheck,
  event: Event,
  entry: Entry,
  isFull: boolean,
): Promise<"same" | "deviates" | "unseen"> {
  switch (entryFacts[event.kind].compared) {
    case "set-up":
      return (await isSetUp(job, event.peer, entry)) ? "same" : "deviates";
    case "gradients":
      return "same"; // compared before everything else, or not at all
    case "sums":
      return isFull ? sumsOf(job, event, entry) : "same";
    default:
      return isSame(event.digest, entry.digest) ? "same" : "deviates";
  }
}

async function isSetUp({ tree, replay, setUpLayout }: TreeToCheck, peer: string, entry: Entry): Promise<boolean> {
  const message = bytesFrom(tree.pairs[peer].setUp ?? "");
  if (!isSame(digestOf("set-up", [digests.bytes(message)]), entry.digest)) return false;
  const setUp = decodeMessage(ActiveSetUpSchema, message);
  return setUp.skipBin && replay.isSetUp(setUp.scheme, setUpLayout);
}

/** Made once more for the whole round, whichever of its trees is looked at first. */
async function gradientsDeviate(job: TreeToCheck): Promise<Finding | null> {
  const { round, active } = job;
  if (round.remade === undefined) round.remade = await remade(job);
  for (const [peer, signed] of round.signed) {
    if (round.remade === null)
      return deviation(job, active, `the gradients that it sent to ${peer} cannot be made again from what it opens`);
    if (!isSame(round.remade, signed))
      return deviation(job, active, `the gradients that it sent to ${peer} are not those of its labels and margins`);
  }
  return null;
}

async function remade({ replay, round }: TreeToCheck): Promise<Uint8Array | null> {
  const { recipe } = round;
  if (recipe === null) return null;
  try {
    const { layout, gradients, sample } = round.round;
    const nonces = { secret: bytesFrom(recipe.secret), chunks: recipe.chunks };
    const chunks: Uint8Array[] = [];
    for await (const chunk of replay.remade(layout, gradients, sample, nonces)) chunks.push(digests.bytes(chunk));
    return digestOf("gradients", chunks);
  } catch {
    return null; // nonces that are none
  }
}

/** Nobody where nothing is due: random bits stand there, which nobody reads. */
function countsMost(sums: Float64Array, columns: number, people: number): number[] {
  return Array.from({ length: sums.length / columns }, (_, i) =>
    sums.subarray(i * columns, (i + 1) * columns).every((sum) => sum === 0) ? 0 : people,
  );
}

/** What the answer holds, decrypted, beside the sums of the opened columns. */
async function sumsOf(job: TreeToCheck, event: Event, entry: Entry): Promise<"same" | "deviates" | "unseen"> {
  const { tree, replayed, replay, round, people } = job;
  const kept = tree.pairs[event.peer].answers?.[event.node]?.map(bytesFrom);
  const expected = replayed.pieces(event).map((piece) => fromClearMessage(piece).values);
  if (kept === undefined) return "unseen";
  const pieceDigests = kept.map((piece) => digests.bytes(piece));
  if (!isSame(digestOf(event.kind, pieceDigests), entry.digest)) return "unseen"; // not what was sent
  if (kept.length !== expected.length) return "deviates";
  const { layout, gradients } = round.round;
  for (const [i, message] of kept.entries()) {
    const counts = countsMost(expected[i], gradients.columns.length, people);
    const sums = await replay.opened(layout, message, counts).catch(() => null);
    if (sums === null || !sums.every((sum, k) => sum === expected[i][k])) return "deviates";
  }
  return "same";
}

/** Of pieces that were kept, or made again. */
function digestOf(kind: EntryKind, pieceDigests: readonly Uint8Array[]): Uint8Array {
  const { ofPieces } = entryFacts[kind];
  assert(ofPieces !== undefined, "nothing is kept of this kind");
  return ofPieces(digests, pieceDigests);
}

function keyed(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [`${entry.kind}/${entry.node}`, entry]));
}
