/**
 * The active half of the curve scheme: ElGamal in the exponent over edwards25519 (docs/curve.md). Row i has a secret h,
 * the same in the whole job, and a public base H = h B. The values of a round are encrypted under one secret s each, as
 * q B + s H = (q + s h) B. An answer has a sum of bases and of such points, both masked; 8 (C - s A) leaves the sum in
 * the exponent, which is found by a search.
 *
 * A secret s belongs to the plaintexts of one round (crypto/curve/secrets.ts): the same round has the same bytes.
 *
 * @reveals passive: encrypted gradients only; the number of instances
 * @reveals active: per candidate of a passive party, without its name: the sums of g and h of one side, and its count
 *   where counts are sent
 */
import { createHash } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { inOrder } from "../../base/scheduling/in-order.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import {
  type Curve,
  type CurveKernel,
  type HeldScalars,
  type Logarithms,
  pointBytes,
} from "../../crypto/curve/kernel.ts";
import { roundScalars, roundSecret, rowScalars, rowSeed } from "../../crypto/curve/secrets.ts";
import {
  CurveBasesSchema,
  CurveGradientsSchema,
  CurveSetUpSchema,
  CurveSumsSchema,
} from "../../wire/generated/tandem/v1/curve_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { chunkBytes } from "../../wire/version.ts";
import { type GradientChunk, noOperations, type SchemeParameters } from "../scheme.ts";
import type { ReplayedRound, SentActive } from "../sent-scheme.ts";
import { allShortcuts, type Shortcuts } from "../shortcuts.ts";
import { layoutReach, sumRange } from "./range.ts";
import { curveSchemeName } from "./scheme-name.ts";

/** No key limits the plaintext: sums are bounded by the job's number of rows. */
export const curvePlaintextBits = 4096;
/** Chunks encrypted ahead of the one that is being sent. */
const chunksAhead = 2;

/** h and H of every row of the job. */
interface JobRows {
  readonly scalars: HeldScalars;
  readonly bases: Uint8Array;
}

export class CurveActive implements SentActive {
  readonly name = curveSchemeName;
  readonly membership = "sent";
  readonly counts = noOperations();
  readonly parameters: SchemeParameters = {};
  readonly plaintextBitsMax = curvePlaintextBits;
  readonly #curve: Curve;
  readonly #seed: Uint8Array;
  readonly #shortcuts: Shortcuts;
  /** The same in every attempt. */
  #rows: { readonly count: number; readonly made: Promise<JobRows> } | null = null;
  #areBasesSent = false;
  #logarithms: Promise<Logarithms> | null = null;
  /** s of each value of the current round. */
  #secrets: HeldScalars | null = null;

  constructor(kernel: CurveKernel, threads: number, seed: Uint8Array, shortcuts: Shortcuts = allShortcuts) {
    this.#curve = kernel.curve(threads);
    this.#seed = seed;
    this.#shortcuts = shortcuts;
  }

  async setUp({ layout }: { readonly layout: GradientLayout }): Promise<Uint8Array> {
    assert(layout.limbs === 1, "sums of this scheme fit doubles");
    this.#areBasesSent = false;
    this.#logarithms = this.#curve.logarithms(layoutReach(layout));
    this.#logarithms.catch(() => {}); // awaited by the first answer
    const { bases } = await this.#jobRows(layout.instanceCountMax);
    return encodeMessage(CurveSetUpSchema, {
      valuesPerInstance: layout.slots.length,
      jointBins: this.#shortcuts.jointBins,
      basesDigest: createHash("sha256").update(bases).digest(),
    });
  }

  async *gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncGenerator<GradientChunk> {
    const { scalars: rows, bases } = await this.#jobRows(layout.instanceCountMax);
    if (!this.#areBasesSent) {
      this.#areBasesSent = true;
      yield* basesChunks(bases);
    }
    const instances = sample ?? Uint32Array.from({ length: gradients.instanceCount }, (_, i) => i);
    const plaintexts = plaintextsOf(gradients, instances);
    const secrets = (this.#secrets = await this.#roundSecrets(serial, instances, plaintexts, layout.slots.length));
    const keys = await this.#curve.multiples(
      secrets,
      Uint32Array.from({ length: secrets.count }, (_, i) => i),
    );
    const width = secrets.count;
    const perChunk = Math.max(1, Math.floor(chunkBytes / (width * pointBytes)));
    const firsts = Array.from({ length: Math.ceil(instances.length / perChunk) }, (_, i) => i * perChunk);
    yield* inOrder(firsts, chunksAhead, async (first) => {
      const places = instances.subarray(first, first + perChunk);
      const part = plaintexts.subarray(first * width, (first + places.length) * width);
      const points = await this.#curve.encrypt({ rows, places, secrets, plaintexts: part });
      this.counts.encryptions += part.length;
      const message = encodeMessage(CurveGradientsSchema, {
        firstInstance: first,
        points,
        ...(first === 0 && { keys }),
      });
      return { message, ciphertexts: part.length };
    });
  }

  sums(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    if (this.#secrets === null) throw new TandemError("PROTOCOL_STATE", "an answer before the gradients of its round");
    return this.#open(this.#secrets, layout, message, counts);
  }

  /** Sums of a round that this half did not encrypt itself, for an auditor who has the seed. */
  async sumsOf(round: ReplayedRound, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    const { gradients, sample, serial, layout } = round;
    const instances = sample ?? Uint32Array.from({ length: gradients.instanceCount }, (_, i) => i);
    const plaintexts = plaintextsOf(gradients, instances);
    const secrets = await this.#roundSecrets(serial, instances, plaintexts, layout.slots.length);
    return this.#open(secrets, layout, message, counts);
  }

  async #open(
    secrets: HeldScalars,
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
  ): Promise<Float64Array> {
    const { points } = decodeMessage(CurveSumsSchema, message);
    const { slots } = layout;
    const expected = counts.length * (1 + slots.length) * pointBytes;
    if (points.length !== expected)
      throw new TandemError("PROTOCOL_STATE", `an answer has ${points.length} bytes; ${expected} were expected`);
    const ranges = counts.flatMap((count) =>
      slots.map((slot) => (count === 0 ? { centre: 0, bound: -1 } : sumRange(slot, count))),
    );
    const logarithms = await (this.#logarithms ??= this.#curve.logarithms(layoutReach(layout)));
    const sums = await this.#curve.open({
      secrets,
      points,
      centres: Float64Array.from(ranges, ({ centre }) => centre),
      bounds: Float64Array.from(ranges, ({ bound }) => bound),
      logarithms,
    });
    this.counts.decryptions += sums.length;
    this.counts.candidateCiphertexts += sums.length;
    if (sums.some(Number.isNaN))
      throw new TandemError(
        "DECODE_OVERFLOW",
        "no sum within the layout's range belongs to a point of an answer: corrupt data or a deviating peer",
      );
    return sums;
  }

  close(): void {
    const rows = this.#rows;
    this.#rows = null;
    this.#secrets = null;
    void rows?.made.then(({ scalars }) => this.#curve.wipe(scalars)).catch(() => {});
  }

  async #roundSecrets(
    serial: number,
    instances: Uint32Array,
    plaintexts: Int32Array,
    valueCount: number,
  ): Promise<HeldScalars> {
    const secret = roundSecret(this.#seed, serial, instances, plaintexts);
    const wide = roundScalars(secret, valueCount);
    const held = await this.#curve.scalars(wide);
    secret.fill(0);
    wide.fill(0);
    return held;
  }

  #jobRows(count: number): Promise<JobRows> {
    if (this.#rows?.count === count) return this.#rows.made;
    const made = this.#makeRows(count);
    this.#rows = { count, made };
    return made;
  }

  async #makeRows(count: number): Promise<JobRows> {
    const wide = rowScalars(rowSeed(this.#seed), count);
    const scalars = await this.#curve.scalars(wide);
    wide.fill(0);
    const bases = await this.#curve.multiples(
      scalars,
      Uint32Array.from({ length: count }, (_, i) => i),
    );
    return { scalars, bases };
  }
}

function* basesChunks(bases: Uint8Array): Generator<GradientChunk> {
  const perChunk = Math.floor(chunkBytes / pointBytes);
  for (let first = 0; first * pointBytes < bases.length; first += perChunk) {
    const points = bases.subarray(first * pointBytes, (first + perChunk) * pointBytes);
    const message = encodeMessage(CurveBasesSchema, { firstInstance: first, points });
    yield { message, ciphertexts: 0, isOfBases: true };
  }
}

/** Instance by instance, slot by slot. */
function plaintextsOf({ columns }: QuantisedGradients, instances: Uint32Array): Int32Array {
  const width = columns.length;
  const plaintexts = new Int32Array(instances.length * width);
  for (const [slot, column] of columns.entries())
    for (let i = 0; i < instances.length; i++) plaintexts[i * width + slot] = column[instances[i]];
  return plaintexts;
}
