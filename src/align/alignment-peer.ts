/**
 * The contact between the two sides of an alignment: what a passive party offers, as plain methods with streams of
 * chunks. A transport puts it behind the network; the tests connect it directly. Also the limits of both sides.
 *
 * A chunk of points is a whole number of 32-byte u-coordinates, 1 to pointsPerChunkMax of them. Where a stream is cut
 * into chunks means nothing.
 */
import { availableParallelism } from "node:os";
import { assert } from "../base/assert.ts";
import { osRandom, type SecureRandom } from "../base/random.ts";
import type { Normalisation } from "./normalise.ts";

/** Bounds of one chunk from a peer, and what we send: 64 KB of points is 110 ms of one thread's work. */
export const pointsPerChunkMax = 16_384;
export const pointsPerChunk = 2048;
export const positionsPerChunkMax = 131_072;
export const positionsPerChunk = 16_384;
/** Ids that one party may bring. */
export const idCountMax = 1 << 26;

/** What must be the same on both sides (hash domain, normalisations), and how much is coming. */
export interface AlignmentOffer {
  /** How ids become points: hashDomain of hash-to-curve.ts. */
  readonly hashDomain: string;
  readonly normalisations: readonly Normalisation[];
  readonly activeIdCount: number;
}

export interface AlignmentAnswer {
  readonly passiveIdCount: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A passive party as the active party sees it. The methods are called once each, in this order. */
export interface AlignmentPeer {
  readonly name: string;
  /** The fingerprint that the passive party knows the active one by; empty where there are none. */
  readonly boundTo: string;
  begin(offer: AlignmentOffer, options: CallOptions): Promise<AlignmentAnswer>;
  /** Each point times the passive party's secret, in the same order. */
  remask(points: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<Uint8Array>;
  /** The passive party's own ids, masked, in its secret order. */
  maskedIds(options: CallOptions): AsyncIterable<Uint8Array>;
  /** The common instances: their positions in the order of maskedIds, ascending. */
  accept(commonCount: number, positions: AsyncIterable<Uint32Array>, options: CallOptions): Promise<void>;
}

export interface AlignmentOptions {
  /** Threads for the arithmetic; 0 works in the calling thread, in short slices. Default: one per core. */
  readonly threads?: number;
  /** Called after each chunk with the number of points that passed, of all that will. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly random?: SecureRandom;
}

export function settled(options: AlignmentOptions): Required<AlignmentOptions> {
  const threads = options.threads ?? availableParallelism();
  assert(Number.isInteger(threads) && threads >= 0, "threads is a natural number");
  return { threads, onProgress: options.onProgress ?? (() => undefined), random: options.random ?? osRandom };
}
