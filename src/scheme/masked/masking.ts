/**
 * The seam of masked scoring: how sums of products are computed without showing their factors. Two halves exchange
 * opaque bytes. The active half has a number per product and row; a passive half has a bit per condition and row, and
 * gets no result. The wire names the masking (registry below).
 */
import { TandemError } from "../../base/error.ts";
import type { Products } from "./products.ts";
import { obliviousTransfer } from "./oblivious-transfer.ts";

/** Messages to one passive party about the set-up, or about one batch. */
export interface PartyChannel {
  send(message: Uint8Array): Promise<Uint8Array>;
}

export interface ActiveMasking {
  /** The first message to a party, by its place in Products.parties. */
  opening(party: number): Uint8Array;
  /** @param answers of the parties to their first message */
  setUp(answers: readonly Uint8Array[], parties: readonly PartyChannel[]): Promise<void>;
  /** The most bytes of a message about one row; a matrix of a whole batch has up to messageExtraBytes more. */
  readonly rowBytesMax: number;
  readonly messageExtraBytes: number;
  /**
   * @param values per product and row its number, as in Products; overwritten
   * @param begun the parties' answers to the batch's first step
   * @returns per row the sum of the products of each run
   */
  sums(
    batch: number,
    values: Uint32Array,
    begun: readonly Uint8Array[],
    parties: readonly PartyChannel[],
  ): Promise<Uint32Array>;
}

export interface PassiveMasking {
  readonly opening: Uint8Array;
  setUp(message: Uint8Array): Promise<Uint8Array>;
  /** @param bits per condition and row one byte, 0 or 1 */
  begin(batch: number, bits: Uint8Array): Promise<PendingSums>;
  /** @throws TandemError PROTOCOL_STATE if the messages for these rows would be too large */
  checkRows(rowCount: number): void;
}

export interface PendingSums {
  readonly message: Uint8Array;
  finish(message: Uint8Array): Promise<Uint8Array>;
}

/** What a passive half knows of its conditions: how many there are, and how many of them are summed together. */
export interface OwnConditions {
  readonly conditionCount: number;
  readonly runs: readonly number[];
  /** The most sums of a row. */
  readonly outputsMax: number;
  /** Deviation of the noise in each sum; 0: none. */
  readonly scoreNoise: number;
}

export interface Masking {
  readonly name: string;
  active(products: Products): ActiveMasking;
  /** @throws TandemError PROTOCOL_STATE if the opening is not valid */
  passive(opening: Uint8Array, conditions: OwnConditions): PassiveMasking;
}

const maskings: readonly Masking[] = [obliviousTransfer];
export const defaultMasking: Masking = obliviousTransfer;

/** @throws TandemError PROTOCOL_STATE for an unknown name */
export function maskingNamed(name: string): Masking {
  const masking = maskings.find((known) => known.name === name);
  if (masking === undefined)
    throw new TandemError("PROTOCOL_STATE", "unknown masking: both parties must run versions that have it");
  return masking;
}
