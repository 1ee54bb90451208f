/**
 * Comparison of random ciphertexts with what had to be sent: gradients are encrypted again with the active party's
 * nonces, and answers are decrypted with its key. Only if the gradients are right can wrong sums be attributed to their
 * sender, and wrong decisions to the active party.
 */
import { assert } from "../base/assert.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { entryFacts, type EntryKind } from "../messages/table.ts";
import { answerBytesMax } from "../party/active/job-evidence.ts";
import { digests } from "../protocol/chain/digests.ts";
import { decodeEntries, type Entry, isSame, keyed } from "../protocol/chain/entries.ts";
import { fromClearMessage } from "../scheme/replay/clear-message.ts";
import type { ReplayedRound, SchemeReplay } from "../scheme/sent-scheme.ts";
import { bytesFrom } from "../store/stored-numbers.ts";
import { ActiveSetUpSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { decodeMessage } from "../wire/scheme-message.ts";
import type { Finding } from "./findings.ts";
import type { Event } from "./replayed-events.ts";
import type { Compared, TreeToCheck } from "./tree-check.ts";

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

export class Ciphertexts {
  readonly #replay: SchemeReplay;
  readonly #round: RoundCheck;
  /** The layout at the start of the job. */
  readonly #setUpLayout: GradientLayout;
  readonly #people: number;

  constructor(
    replay: SchemeReplay,
    round: RoundCheck,
    { setUpLayout, people }: { readonly setUpLayout: GradientLayout; readonly people: number },
  ) {
    this.#replay = replay;
    this.#round = round;
    this.#setUpLayout = setUpLayout;
    this.#people = people;
  }

  /** Checks gradients as they were signed before the first answer, whether or not their tree was finished. */
  async sentDeviate({ active, replayed }: TreeToCheck, sent: readonly SentGradients[]): Promise<Finding | null> {
    const remade = sent.length > 0 ? await this.#remade() : null;
    for (const { peer, tree, digest } of sent) {
      const sample = replayed.events.find((event) => event.peer === peer && event.kind === "sample");
      const expected = sample && remade && digests.bytes(sample.digest, remade);
      if (expected instanceof Uint8Array && isSame(expected, digest)) continue;
      const what = `gradients that it signed for ${peer} are not those of its labels and margins`;
      return { party: active, tree, what };
    }
    return null;
  }

  /** The gradients in the tree's link. */
  async gradientsDeviate({ active, tree: { tree } }: TreeToCheck): Promise<Finding | null> {
    const remade = await this.#remade();
    for (const [peer, signed] of this.#round.signed) {
      if (remade === null)
        return {
          party: active,
          tree,
          what: `the gradients that it sent to ${peer} cannot be recomputed from its opening`,
        };
      if (!isSame(remade, signed))
        return {
          party: active,
          tree,
          what: `the gradients that it sent to ${peer} are not those of its labels and margins`,
        };
    }
    return null;
  }

  async compare(job: TreeToCheck, event: Event, entry: Entry, isFull: boolean): Promise<Compared> {
    switch (entryFacts[event.kind].compared) {
      case "set-up":
        return (await this.#isSetUp(job, event.peer, entry)) ? "same" : "deviates";
      case "gradients":
        return "same"; // compared before everything else, or not at all
      case "sums":
        return isFull ? this.#sums(job, event, entry) : "same";
      default:
        return isSame(event.digest, entry.digest) ? "same" : "deviates";
    }
  }

  /**
   * Whether the active party had to keep an answer: it may leave out what does not fit into `answerBytesMax` with the
   * other answers of this tree.
   */
  isDue({ tree, replayed }: TreeToCheck, event: Event): boolean {
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
    const sizeMax = messageBytes + sums * this.#replay.sumBytesMax;
    return keptBytes + sizeMax < answerBytesMax;
  }

  async #isSetUp({ tree }: TreeToCheck, peer: string, entry: Entry): Promise<boolean> {
    const message = bytesFrom(tree.pairs[peer].setUp ?? "");
    if (!isSame(digestOf("set-up", [digests.bytes(message)]), entry.digest)) return false;
    const setUp = decodeMessage(ActiveSetUpSchema, message);
    return setUp.skipBin && this.#replay.isSetUp(setUp.scheme, this.#setUpLayout);
  }

  /** Once for the whole gradient round; null: invalid gradients. */
  async #remade(): Promise<Uint8Array | null> {
    const { layout, gradients, sample, serial } = this.#round.round;
    if (this.#round.remade === undefined)
      try {
        const chunks: Uint8Array[] = [];
        for await (const chunk of this.#replay.remade(layout, gradients, sample, serial))
          chunks.push(digests.bytes(chunk));
        this.#round.remade = digestOf("gradients", chunks);
      } catch {
        this.#round.remade = null;
      }
    return this.#round.remade;
  }

  /** Compares the decrypted answer with the sums of the opened columns. */
  async #sums({ tree, replayed }: TreeToCheck, event: Event, entry: Entry): Promise<Compared> {
    const kept = tree.pairs[event.peer].answers?.[event.node]?.map(bytesFrom);
    const expected = replayed.pieces(event).map((piece) => fromClearMessage(piece).values);
    if (kept === undefined) return "not stored";
    const pieceDigests = kept.map((piece) => digests.bytes(piece));
    if (!isSame(digestOf(event.kind, pieceDigests), entry.digest)) return "not stored"; // not what was sent
    if (kept.length !== expected.length) return "deviates";
    const { layout, gradients } = this.#round.round;
    for (const [i, message] of kept.entries()) {
      const counts = countsMost(expected[i], gradients.columns.length, this.#people);
      const sums = await this.#replay.opened(layout, message, counts).catch(() => null);
      if (sums === null || !sums.every((sum, k) => sum === expected[i][k])) return "deviates";
    }
    return "same";
  }
}

/** Far above the overhead of a message. */
const messageBytes = 1 << 16;

/** Upper bounds of counts: 0 where the expected sums are zero, since the answer has random bits there. */
function countsMost(sums: Float64Array, columns: number, people: number): number[] {
  return Array.from({ length: sums.length / columns }, (_, i) =>
    sums.subarray(i * columns, (i + 1) * columns).every((sum) => sum === 0) ? 0 : people,
  );
}

/** The digest of stored or recomputed pieces. */
function digestOf(kind: EntryKind, pieceDigests: readonly Uint8Array[]): Uint8Array {
  const { ofPieces } = entryFacts[kind];
  assert(ofPieces !== undefined, "entries of this kind have no stored pieces");
  return ofPieces(digests, pieceDigests);
}
