/**
 * The interface between the two sides of private set intersection: a passive party's methods, with streams of chunks. A
 * transport carries them over the network; tests connect them directly. Also the limits of both sides.
 *
 * A chunk of points is a whole number of 32-byte u-coordinates, 1 to pointsPerChunkMax of them. How a stream is cut
 * into chunks carries no meaning.
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

/** What must be the same on both sides (hash domain, normalisations), and the number of ids to expect. */
export interface PsiOffer {
  /** How ids become points: hashDomain of hash-to-curve.ts. */
  readonly hashDomain: string;
  readonly normalisations: readonly Normalisation[];
  readonly activeIdCount: number;
}

export interface PsiAnswer {
  readonly passiveIdCount: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A passive party as the active party sees it. The methods are called once each, in this order. */
export interface PsiPeer {
  readonly name: string;
  /** The active party's fingerprint as the passive party knows it; empty without certificates. */
  readonly boundTo: string;
  begin(offer: PsiOffer, options: CallOptions): Promise<PsiAnswer>;
  /** Each point times the passive party's secret, in the same order. */
  remask(points: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<Uint8Array>;
  /** The passive party's own ids, masked, in its secret order. */
  maskedIds(options: CallOptions): AsyncIterable<Uint8Array>;
  /** The common instances: their positions in the order of maskedIds, ascending. */
  accept(commonCount: number, positions: AsyncIterable<Uint32Array>, options: CallOptions): Promise<void>;
}

export interface PsiOptions {
  /** Threads for the arithmetic; 0 works in the calling thread, in short slices. Default: one per core. */
  readonly threads?: number;
  /** Called after each chunk with the number of points that passed, of all that will. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly random?: SecureRandom;
}

export function settled(options: PsiOptions): Required<PsiOptions> {
  const threads = options.threads ?? availableParallelism();
  assert(Number.isInteger(threads) && threads >= 0, "threads is a natural number");
  return { threads, onProgress: options.onProgress ?? (() => undefined), random: options.random ?? osRandom };
}
