/**
 * The passive half of the curve scheme. Blocks hold the points of the rows and add them up per bin (block.ts); this
 * half adds up per candidate side, adds noise, and masks every sum with a multiple of B and of the round's keys. What
 * is left for the active party are the sums of plaintexts, without any assumption: the masks are uniform in the group,
 * and multiplying by 8 removes what points of small order would show.
 *
 * Masks follow from the party's seed and from everything that determines the answer. The same question gets the same
 * bytes, in every attempt; another one gets fresh masks.
 */
import { createHash, type Hash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import { type Curve, type CurveKernel, type HeldKeys, pointBytes } from "../../crypto/curve/kernel.ts";
import { digestOf, maskScalars } from "../../crypto/curve/secrets.ts";
import { CurveBlockTermsSchema } from "../../wire/generated/tandem/v1/blocks_pb.ts";
import {
  CurveBasesSchema,
  CurveGradientsSchema,
  CurveSetUpSchema,
  CurveSumsSchema,
} from "../../wire/generated/tandem/v1/curve_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { chunkBytes } from "../../wire/version.ts";
import { AttemptCrew } from "../blocks/attempt-crew.ts";
import type { Crew } from "../blocks/crew.ts";
import { EmbeddedCrew } from "../blocks/embedded-crew.ts";
import { SentBlocks } from "../blocks/sent-blocks.ts";
import { planAdditions } from "../candidates/candidate-plan.ts";
import type { SentTask } from "../candidates/node-task.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import { noOperations, type SumsPiece } from "../scheme.ts";
import { SeenCiphertexts } from "../seen-ciphertexts.ts";
import type { SentPassive, SentPassiveJob } from "../sent-scheme.ts";
import { curvePlaintextBits } from "./active.ts";
import { CurveBlock, type CurveCells, curveCells } from "./block.ts";
import { curveSchemeName } from "./scheme-name.ts";

/** Candidates of one message of an answer. */
export function candidatesPerPiece(valuesPerInstance: number): number {
  return Math.max(1, Math.floor(chunkBytes / ((1 + valuesPerInstance) * pointBytes)));
}

interface SetUpState {
  readonly job: SentPassiveJob;
  readonly width: number;
  readonly basesDigest: Uint8Array;
  readonly blocks: SentBlocks<CurveCells>;
  /** Of the set-up and the party's bins. */
  readonly digest: string;
  /** How many bases have been received, and their bytes. */
  readonly bases: Uint8Array;
  basesLoaded: number;
}

interface RoundState {
  readonly sampled: number;
  instancesLoaded: number;
  readonly seen: SeenCiphertexts;
  readonly received: Hash;
  /** Of all that was received, once it is complete. */
  digest: string | null;
  keys: HeldKeys | null;
}

export class CurvePassive implements SentPassive {
  readonly membership = "sent";
  readonly counts = noOperations();
  readonly #curve: Curve;
  readonly #seed: Uint8Array;
  readonly #crew: AttemptCrew;
  #state: SetUpState | null = null;
  #round: RoundState | null = null;

  /** @param crew holds the rows; left out: this process */
  constructor(kernel: CurveKernel, threads: number, seed: Uint8Array, crew?: Crew) {
    this.#curve = kernel.curve(threads);
    this.#seed = seed;
    this.#crew = new AttemptCrew(crew ?? new EmbeddedCrew((data) => new CurveBlock(kernel, data, threads)));
  }

  /** @returns the whole message: values, and the digest of the bases */
  async setUp(message: Uint8Array, job: SentPassiveJob): Promise<Uint8Array> {
    const { valuesPerInstance: width, jointBins, basesDigest } = decodeMessage(CurveSetUpSchema, message);
    const { slots } = agreedLayout(job.terms, job.instanceCount, curvePlaintextBits);
    if (width !== slots.length)
      throw new TandemError(
        width > slots.length ? "POLICY" : "PROTOCOL_STATE",
        `the set-up asks for ${width} values per instance; the agreed job has ${slots.length}`,
      );
    const { columns, instanceCount: rowCount } = job;
    this.#state?.blocks.close();
    const terms = encodeMessage(CurveBlockTermsSchema, { valuesPerInstance: width, jointBins });
    const blocks = await this.#crew.open({ scheme: curveSchemeName, terms, rowCount, columns });
    this.#state = {
      job,
      width,
      basesDigest,
      blocks: new SentBlocks(blocks, width * pointBytes, curveCells(this.#curve, width)),
      digest: digestOf([message, columns.binCounts, ...columns.bins]),
      bases: new Uint8Array(rowCount * pointBytes),
      basesLoaded: 0,
    };
    return message;
  }

  beginRound(tree: SentNodes): void {
    const { blocks, width, job } = this.#setUpState();
    const { sample } = tree;
    this.#round = {
      sampled: sample.count,
      instancesLoaded: 0,
      seen: new SeenCiphertexts(sample.count * width),
      received: createHash("sha256").update(sample.bitmap(0, job.instanceCount)),
      digest: null,
      keys: null,
    };
    blocks.beginRound(tree);
  }

  nextTree(tree: SentNodes): void {
    this.#roundState();
    this.#setUpState().blocks.nextTree(tree);
  }

  async bases(message: Uint8Array): Promise<void> {
    const state = this.#setUpState();
    const { firstInstance, points } = decodeMessage(CurveBasesSchema, message);
    const count = points.length / pointBytes;
    const { instanceCount } = state.job;
    const continues = firstInstance === state.basesLoaded && this.#roundState().instancesLoaded === 0;
    if (!continues || !Number.isInteger(count) || count < 1 || firstInstance + count > instanceCount)
      throw new TandemError(
        "PROTOCOL_STATE",
        `bases from instance ${firstInstance} on do not continue at ${state.basesLoaded}`,
      );
    state.bases.set(points, firstInstance * pointBytes);
    state.basesLoaded += count;
    if (state.basesLoaded < instanceCount) return;
    if (Buffer.compare(createHash("sha256").update(state.bases).digest(), state.basesDigest) !== 0)
      throw new TandemError("PROTOCOL_STATE", "the bases are not those that the set-up has the digest of");
    const seen = new SeenCiphertexts(instanceCount);
    seen.add(state.bases, pointBytes);
    if (seen.hasRepeats()) throw new TandemError("PROTOCOL_STATE", "two instances have the same base");
    await state.blocks.loadBases(state.bases);
  }

  async gradients(message: Uint8Array): Promise<number> {
    const { width, blocks, job, basesLoaded } = this.#setUpState();
    const round = this.#roundState();
    if (basesLoaded !== job.instanceCount)
      throw new TandemError("PROTOCOL_STATE", "gradients arrived before the bases of all instances");
    const { points, firstInstance, keys } = decodeMessage(CurveGradientsSchema, message);
    const count = points.length / (pointBytes * width);
    const continues = firstInstance === round.instancesLoaded;
    if (!continues || !Number.isInteger(count) || count < 1 || firstInstance + count > round.sampled)
      throw new TandemError(
        "PROTOCOL_STATE",
        `a chunk of gradients at instance ${firstInstance} does not continue at ${round.instancesLoaded}`,
      );
    if (firstInstance === 0) round.keys = await this.#loadKeys(keys);
    else if (keys.length > 0) throw new TandemError("PROTOCOL_STATE", "a round has keys in its first chunk only");
    round.received.update(message);
    await blocks.load(firstInstance, points);
    round.seen.add(points, pointBytes);
    round.instancesLoaded += count;
    this.counts.gradientCiphertexts += count * width;
    return count * width;
  }

  /** Equal keys, or keys of small order, show a broken generator of secrets. */
  async #loadKeys(keys: Uint8Array): Promise<HeldKeys> {
    const { width } = this.#setUpState();
    if (keys.length !== width * pointBytes)
      throw new TandemError("PROTOCOL_STATE", "the first chunk of a round has a key for every value");
    const texts = Array.from({ length: width }, (_, i) =>
      Buffer.from(keys.subarray(i * pointBytes, (i + 1) * pointBytes)).toString("hex"),
    );
    if (new Set(texts).size !== width)
      throw new TandemError("PROTOCOL_STATE", "two values of a round have the same key");
    return this.#curve.keys(keys);
  }

  async endOfGradients(): Promise<void> {
    const round = this.#roundState();
    const { instancesLoaded, sampled, seen } = round;
    if (instancesLoaded !== sampled)
      throw new TandemError(
        "PROTOCOL_STATE",
        `gradients of ${instancesLoaded} instances arrived; ${sampled} were expected`,
      );
    if (seen.hasRepeats()) throw new TandemError("PROTOCOL_STATE", "a round's gradients contain the same point twice");
    await this.#setUpState().blocks.loaded();
    round.digest = round.received.digest("hex");
  }

  async *sums(task: SentTask, summed?: () => void): AsyncGenerator<SumsPiece> {
    const { blocks, width } = this.#setUpState();
    const { plan, counts, suppressed, noise } = task;
    const { keys } = this.#roundState();
    if (counts.length === 0) return;
    if (keys === null) throw new TandemError("PROTOCOL_STATE", "a node before the round's gradients");
    const { bases, values } = await blocks.sums(task);
    if (blocks.isElsewhere) summed?.();
    this.counts.additions += planAdditions(plan, task.binCounts) * (1 + width);
    const { chainOffsets, sources, targets } = plan;
    const masks = maskScalars(this.#seed, this.#question(task), counts.length);
    const request = { bases, values, chainOffsets, sources, targets, suppressed, noise, keys, masks };
    const points = await this.#curve.answer(request);
    masks.fill(0);
    this.counts.candidateCiphertexts += counts.length * width;
    const perPiece = candidatesPerPiece(width);
    const size = (1 + width) * pointBytes;
    for (let first = 0; first < counts.length; first += perPiece) {
      const piece = points.subarray(first * size, (first + perPiece) * size);
      const message = encodeMessage(CurveSumsSchema, { points: piece });
      yield { candidateCount: piece.length / size, message };
    }
  }

  /** Digest of everything that determines the answer: two different answers never have the same masks. */
  #question({ positions, features, plan, suppressed, noise }: SentTask): Uint8Array {
    const { digest: setUp } = this.#setUpState();
    const { digest: round } = this.#roundState();
    if (round === null) throw new TandemError("PROTOCOL_STATE", "a node before the round's gradients are complete");
    const { skippedBins, chainOffsets, sources, targets } = plan;
    const noNoise = new Float64Array(0);
    const asked = [positions, features, skippedBins, chainOffsets, sources, targets, suppressed, noise ?? noNoise];
    return createHash("sha256")
      .update(`${setUp}/${round}/${digestOf(asked)}`)
      .digest();
  }

  close(): void {
    this.#crew.end();
    this.#state?.blocks.close();
  }

  #setUpState(): SetUpState {
    if (this.#state === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#state;
  }

  #roundState(): RoundState {
    if (this.#round === null) throw new TandemError("PROTOCOL_STATE", "no tree has been started");
    return this.#round;
  }
}
