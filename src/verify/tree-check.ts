/**
 * Compares the signed messages of one tree with the expected ones, in the order in which they had to be sent. Up to the
 * first difference the job was as agreed, so the sender of that message deviated.
 *
 * Ciphertexts are random and cannot be compared directly: gradients are encrypted again with the nonces of the active
 * party, and answers are decrypted with its key. Only if the gradients are right can wrong sums be attributed to their
 * sender, and wrong decisions to the active party.
 */
import { assert } from "../base/assert.ts";
import { entryFacts, type EntryKind } from "../messages/table.ts";
import { digests } from "../protocol/chain/digests.ts";
import { decodeEntries, type Entry, inWords, isSame } from "../protocol/chain/entries.ts";
import { fromClearMessage } from "../scheme/replay/clear-message.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { ReplayedRound, SchemeReplay } from "../scheme/sent-scheme.ts";
import { answerBytesMax } from "../party/active/job-evidence.ts";
import type { TreeEvidence } from "../store/evidence-files.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import { ActiveSetUpSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { decodeMessage } from "../wire/scheme-message.ts";
import type { Finding } from "./findings.ts";
import type { Event, ReplayedEvents } from "./replayed-events.ts";

/** The gradients of a gradient round, recomputed when first needed, and the digests that were signed. */
export interface RoundCheck {
  readonly round: ReplayedRound;
  /** Digest of the messages; null: they cannot be recomputed; undefined: not tried yet. */
  remade?: Uint8Array | null;
  /** Per peer the digest in the tree's link. */
  readonly signed: Map<string, Uint8Array>;
}

/** Gradients that the active party signed for a peer when it sent them. */
export interface SentGradients {
  readonly peer: string;
  readonly tree: number;
  readonly digest: Uint8Array;
}

export interface TreeToCheck {
  readonly active: string;
  /** Without pairs if no party has signed it. */
  readonly tree: Pick<TreeEvidence, "tree" | "pairs">;
  readonly replayed: ReplayedEvents;
  readonly replay: SchemeReplay;
  readonly round: RoundCheck;
  /** The layout at the start of the job. */
  readonly setUpLayout: GradientLayout;
  readonly people: number;
  /** 0 for schemes without a key. */
  readonly keyBits: number;
}

export interface TreeChecked {
  readonly finding: Finding | null;
  /** Answers that were not stored, and so not compared. */
  readonly notStored: readonly string[];
}

/** @param isFull compare ciphertexts too */
export async function checkTree(job: TreeToCheck, isFull: boolean): Promise<TreeChecked> {
  const notStored: string[] = [];
  return { finding: await firstDeviation(job, isFull, notStored), notStored };
}

async function firstDeviation(job: TreeToCheck, isFull: boolean, notStored: string[]): Promise<Finding | null> {
  const entries = new Map(
    Object.entries(job.tree.pairs).map(([peer, pair]) => [peer, keyed(decodeEntries(bytesFrom(pair.entries)))]),
  );
  if (isFull) {
    const gradients = await gradientsDeviate(job);
    if (gradients !== null) return gradients;
  }
  for (const event of job.replayed.events) {
    const { peer, kind, node } = event;
    if (!entries.has(peer)) continue; // it has not signed this tree
    const entry = entries.get(peer)?.get(`${kind}/${node}`);
    entries.get(peer)?.delete(`${kind}/${node}`);
    const outcome = entry === undefined ? "deviates" : await compare(job, event, entry, isFull);
    if (outcome === "not stored" && isDue(job, event))
      return deviation(job, job.active, `${inWords({ kind, node })} from ${peer}: not in its evidence`);
    if (outcome === "not stored") notStored.push(`${inWords({ kind, node })} from ${peer}`);
    if (outcome === "deviates") return blame(job, event, entry === undefined, notStored);
  }
  for (const [peer, rest] of entries)
    for (const { kind, node } of rest.values())
      return blameActive(job, kind, `${inWords({ kind, node })}: unexpected`, peer, notStored);
  return null;
}

function blame(
  job: TreeToCheck,
  { peer, kind, node }: Event,
  isMissing: boolean,
  notStored: readonly string[],
): Finding {
  const what = `${inWords({ kind, node })}: ${isMissing ? "missing" : "not what follows from the opened data"}`;
  // A missing answer means that it was never requested.
  const isAnswer = entryFacts[kind].sender === "passive" && !isMissing;
  if (isAnswer) return deviation(job, peer, what);
  return blameActive(job, kind, what, peer, notStored);
}

/** Requests and decisions depend on answers: without stored answers the deviation cannot be attributed. */
function blameActive(
  job: TreeToCheck,
  kind: EntryKind,
  what: string,
  peer: string,
  notStored: readonly string[],
): Finding {
  const { active } = job;
  const dependsOnAnswers = entryFacts[kind].about === "node" || entryFacts[kind].sender === "passive";
  if (notStored.length === 0 || !dependsOnAnswers) return deviation(job, active, `${what} (towards ${peer})`);
  const { tree } = job.tree;
  return { party: null, tree, what: `${what} (${active} towards ${peer}), but no party has stored ${notStored[0]}` };
}

function deviation({ tree: { tree } }: TreeToCheck, party: string, what: string): Finding {
  return { party, tree, what };
}

async function compare(
  job: TreeToCheck,
  event: Event,
  entry: Entry,
  isFull: boolean,
): Promise<"same" | "deviates" | "not stored"> {
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

/** Checks gradients as they were signed before the first answer, whether or not their tree was finished. */
export async function checkSentGradients(job: TreeToCheck, sent: readonly SentGradients[]): Promise<Finding | null> {
  const { round, active, replayed } = job;
  if (sent.length > 0 && round.remade === undefined) round.remade = await remade(job);
  for (const { peer, tree, digest } of sent) {
    const sample = replayed.events.find((event) => event.peer === peer && event.kind === "sample");
    const expected = sample && round.remade && digests.bytes(sample.digest, round.remade);
    if (expected instanceof Uint8Array && isSame(expected, digest)) continue;
    const what = `gradients that it signed for ${peer} are not those of its labels and margins`;
    return { party: active, tree, what };
  }
  return null;
}

/** Recomputed once for the whole gradient round. */
async function gradientsDeviate(job: TreeToCheck): Promise<Finding | null> {
  const { round, active } = job;
  if (round.remade === undefined) round.remade = await remade(job);
  for (const [peer, signed] of round.signed) {
    if (round.remade === null)
      return deviation(job, active, `the gradients that it sent to ${peer} cannot be recomputed from its opening`);
    if (!isSame(round.remade, signed))
      return deviation(job, active, `the gradients that it sent to ${peer} are not those of its labels and margins`);
  }
  return null;
}

async function remade({ replay, round }: TreeToCheck): Promise<Uint8Array | null> {
  try {
    const { layout, gradients, sample, serial } = round.round;
    const chunks: Uint8Array[] = [];
    for await (const chunk of replay.remade(layout, gradients, sample, serial)) chunks.push(digests.bytes(chunk));
    return digestOf("gradients", chunks);
  } catch {
    return null; // invalid gradients
  }
}

/** Far above the overhead of a message. */
const messageBytes = 1 << 16;

/**
 * Whether the active party had to keep an answer: it may leave out what does not fit into `answerBytesMax` with the
 * other answers of this tree.
 */
function isDue({ tree, replayed, keyBits }: TreeToCheck, event: Event): boolean {
  const { answers = {}, entries } = tree.pairs[event.peer];
  const signed = keyed(decodeEntries(bytesFrom(entries)));
  const keptBytes = Object.entries(answers).reduce((sum, [node, pieces]) => {
    const kept = pieces.map(bytesFrom);
    const entry = signed.get(`${event.kind}/${node}`);
    const isKept =
      entry !== undefined &&
      isSame(
        digestOf(
          event.kind,
          kept.map((piece) => digests.bytes(piece)),
        ),
        entry.digest,
      );
    return sum + (isKept ? kept.reduce((size, { length }) => size + length, 0) : 0);
  }, 0);
  const sums = replayed.pieces(event).reduce((sum, piece) => sum + fromClearMessage(piece).values.length, 0);
  const sizeMax = messageBytes + sums * (keyBits / 4); // a ciphertext per sum
  return keptBytes + sizeMax < answerBytesMax;
}

/** Upper bounds of counts: 0 where the expected sums are zero, since the answer has random bits there. */
function countsMost(sums: Float64Array, columns: number, people: number): number[] {
  return Array.from({ length: sums.length / columns }, (_, i) =>
    sums.subarray(i * columns, (i + 1) * columns).every((sum) => sum === 0) ? 0 : people,
  );
}

/** Compares the decrypted answer with the sums of the opened columns. */
async function sumsOf(job: TreeToCheck, event: Event, entry: Entry): Promise<"same" | "deviates" | "not stored"> {
  const { tree, replayed, replay, round, people } = job;
  const kept = tree.pairs[event.peer].answers?.[event.node]?.map(bytesFrom);
  const expected = replayed.pieces(event).map((piece) => fromClearMessage(piece).values);
  if (kept === undefined) return "not stored";
  const pieceDigests = kept.map((piece) => digests.bytes(piece));
  if (!isSame(digestOf(event.kind, pieceDigests), entry.digest)) return "not stored"; // not what was sent
  if (kept.length !== expected.length) return "deviates";
  const { layout, gradients } = round.round;
  for (const [i, message] of kept.entries()) {
    const counts = countsMost(expected[i], gradients.columns.length, people);
    const sums = await replay.opened(layout, message, counts).catch(() => null);
    if (sums === null || !sums.every((sum, k) => sum === expected[i][k])) return "deviates";
  }
  return "same";
}

/** The digest of stored or recomputed pieces. */
function digestOf(kind: EntryKind, pieceDigests: readonly Uint8Array[]): Uint8Array {
  const { ofPieces } = entryFacts[kind];
  assert(ofPieces !== undefined, "entries of this kind have no stored pieces");
  return ofPieces(digests, pieceDigests);
}

function keyed(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [`${entry.kind}/${entry.node}`, entry]));
}
