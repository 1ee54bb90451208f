/**
 * The best candidate of a node, found by two parties that hold its candidates' sums in shares. Neither learns a sum of
 * a candidate that does not win, and which one wins is shared between them too.
 *
 * With x = GL and y = HL + lambda of a candidate, T = G and S = H + 2 lambda of its node, all integers on the grid, the
 * candidates of a node are compared by
 *
 *   j = B - bitlength(S)        u = floor((S x - T y) 2^j / 2^B)        N = u^2        D = y (S - y)
 *   not allowed, if D < minimum or not offered: N = 0, D = 1        c beats c' iff N_c D_c' > N_c' D_c
 *
 * `floor` rounds to minus infinity. The first candidate of those that no other beats wins, if it also beats a rival
 * (N, D) that the active party brings: its own best candidate, or (0, 1). So a node of which every candidate has N = 0
 * has no winner. The active party learns x and y of the winner, or that there is none; the passive party learns
 * nothing.
 *
 * Bounds: |x|, |T - x|, |T| and S are below 2^B, and 0 <= y <= S. Outside of them results are wrong, and no more.
 *
 * A connection has one session, made by two requests of the set-up (session.ts). Each batch of nodes then is a series
 * of requests. Both sides know the terms of a batch, and so the length of every message; another length is
 * refused with PROTOCOL_STATE, and ends the batch. A message may be longer than a call should be: callers cut it.
 *
 * Until the last answer nothing is opened. Before it the passive party keeps both parties' shares of the winners, so
 * that a batch which was opened is repeated after a lost connection, and never compared again (winners.ts).
 */
import type { Seal } from "./winners.ts";

/** What both sides know of a batch. */
export interface MaximumTerms {
  /** B, from bitsMin to bitsMax. */
  readonly bits: number;
  readonly nodes: readonly NodeTerms[];
  /**
   * Bits of the ring of the shares that both parties bring, from B + 2 to ringBits(B); in a ring that is narrower than
   * ringBits(B) they are widened first. Left out: ringBits(B).
   */
  readonly shareBits?: number;
}

export interface NodeTerms {
  /** From 1 to candidatesMax, in tie order. */
  readonly candidates: number;
}

export const bitsMin = 12;
export const bitsMax = 32;
export const candidatesMax = 1 << 15;

/** Shares of sums are residues modulo 2^ringBits(B), or 2^shareBits, and add up to the sums there. */
export function ringBits(bits: number): number {
  return 2 * bits + 2;
}

/** Integers of four words of 32 bits each, side by side, the lowest word first. Bits beyond a ring's are ignored. */
export type Residues = Uint32Array;

/** One party's shares of the sums of all candidates, node after node in the order of the terms. */
export interface SharedSums {
  /** Of x. */
  readonly gradients: Residues;
  /** Of y. */
  readonly hessians: Residues;
}

/** What only the active party knows of a node. */
export interface NodeTotals {
  /** T */
  readonly gradient: bigint;
  /** S, at least 1. */
  readonly hessian: bigint;
  /** The least D that is allowed: m (S - m), at least 1; m = min_child_weight + lambda. A node with S < 2m has no
   * candidate that is allowed, and need not be in a batch; nothingAllowed(B) has that effect. */
  readonly minimum: bigint;
  /** A candidate must beat it: (N, D) of the active party's own best. Left out: (0, 1). */
  readonly rival?: { readonly square: bigint; readonly product: bigint } | undefined;
}

/** A minimum that no D reaches. */
export function nothingAllowed(bits: number): bigint {
  return (1n << BigInt(2 * bits - 2)) - 1n;
}

export interface ActiveMaximumInput {
  readonly totals: readonly NodeTotals[];
  readonly sums: SharedSums;
  /** Seals this party's shares of the winners, which the passive party keeps. Left out: nothing is repeated. */
  readonly seal?: Seal | undefined;
}

export interface PassiveMaximumInput {
  readonly sums: SharedSums;
  /** Per candidate 1 if it may win; left out: all may. The active party does not learn it. */
  readonly offered?: Uint8Array;
  /** Settles when this is stored: nothing is opened earlier. */
  readonly keep?: ((kept: KeptWinners) => Promise<void>) | undefined;
}

/** What a passive party keeps of a batch, to repeat it. */
export interface KeptWinners {
  /** The active party's shares, sealed by it. */
  readonly sealed: Uint8Array;
  /** This party's shares of the winners' sums: the last answer. */
  readonly opened: Uint8Array;
  /** This party's share of each winner's place. */
  readonly places: readonly number[];
}

/** The winner of a node. */
export interface NodeMaximum {
  /** x */
  readonly gradient: bigint;
  /** y */
  readonly hessian: bigint;
  /** The active party's share of the winner's place. To send it names the winner to the passive party. */
  readonly placeShare: number;
}

/** The set-up and each batch are series of requests of the active side, which the passive side answers. */
export interface Requests {
  first(): Promise<Uint8Array>;
  /** The next request; undefined after the last. @throws TandemError PROTOCOL_STATE if it is not the right answer */
  next(answer: Uint8Array): Promise<Uint8Array | undefined>;
}

export interface Answers {
  /** @throws TandemError PROTOCOL_STATE if it is not the request expected now */
  answer(request: Uint8Array): Promise<Uint8Array>;
}

export interface ActiveMaximumSetUp extends Requests {
  /** After the last answer. */
  session(): ActiveMaximumSession;
}

export interface PassiveMaximumSetUp extends Answers {
  /** After the last request. */
  session(): PassiveMaximumSession;
}

export interface ActiveMaximumSession {
  /**
   * @param batch a number from 1 on that this session has not used
   * @throws TandemError PROTOCOL_STATE if it has, or the terms are out of range
   */
  begin(batch: number, terms: MaximumTerms, input: ActiveMaximumInput): ActiveMaximum;
}

export interface PassiveMaximumSession {
  /** As the active side's. */
  begin(batch: number, terms: MaximumTerms, input: PassiveMaximumInput): PassiveMaximum;
}

export interface ActiveMaximum extends Requests {
  /** After the last answer: per node its winner, undefined if no candidate beats the rival. */
  result(): readonly (NodeMaximum | undefined)[];
}

export interface PassiveMaximum extends Answers {
  /** Whether the last request was answered. */
  readonly isFinished: boolean;
  /**
   * The place of a node's winner among its candidates, from 0.
   * @throws TandemError PROTOCOL_STATE before the last answer, or for a share that makes no place
   */
  placeOf(node: number, placeShare: number): number;
}
