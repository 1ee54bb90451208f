/**
 * The seam of masked scoring: how sums of products are computed without showing their factors. Two halves that tell
 * each other bytes. The active half brings a number per product and row; a passive half brings a bit per condition and
 * row, and hears nothing. Which masking it is, is said by name on the wire (registry at the end).
 */
import { TandemError } from "../../base/error.ts";
import type { Products } from "./products.ts";
import { obliviousTransfer } from "./oblivious-transfer.ts";

/** One question to a passive party, and its answer. */
export type Exchange = (party: number, message: Uint8Array) => Promise<Uint8Array>;

export interface ActiveMasking {
  /** What opens the session with a party, by its place in Products.parties. */
  opening(party: number): Uint8Array;
  /** @param answers what the parties said to that */
  setUp(answers: readonly Uint8Array[], exchange: Exchange): Promise<void>;
  /** The most bytes of a message about one row; a matrix of a whole batch has up to messageExtra more. */
  readonly rowBytesMax: number;
  readonly messageExtraBytes: number;
  /**
   * @param values per product and row its number, as in Products; it is used up
   * @param begun the parties' answers to the batch's first step
   * @returns per row what all products of each run add up to
   */
  sums(batch: number, values: Uint32Array, begun: readonly Uint8Array[], exchange: Exchange): Promise<Uint32Array>;
}

export interface PassiveMasking {
  readonly opening: Uint8Array;
  setUp(message: Uint8Array): Promise<Uint8Array>;
  /** @param bits per condition and row one byte, 0 or 1 */
  begin(batch: number, bits: Uint8Array): Promise<PendingSums>;
  /** @throws TandemError PROTOCOL_STATE if the messages about so many rows would be too large */
  checkRows(rowCount: number): void;
}

export interface PendingSums {
  readonly message: Uint8Array;
  finish(message: Uint8Array): Promise<Uint8Array>;
}

/** As far as a passive half knows them: how many, and how many of them are summed up together. */
export interface OwnConditions {
  readonly conditionCount: number;
  readonly runs: readonly number[];
}

export interface Masking {
  readonly name: string;
  active(products: Products): ActiveMasking;
  /** @throws TandemError PROTOCOL_STATE if the opening is none */
  passive(opening: Uint8Array, conditions: OwnConditions): PassiveMasking;
}

const maskings: readonly Masking[] = [obliviousTransfer];
export const defaultMasking: Masking = obliviousTransfer;

/** @throws TandemError PROTOCOL_STATE if there is none of this name */
export function maskingNamed(name: string): Masking {
  const masking = maskings.find((known) => known.name === name);
  if (masking === undefined) throw new TandemError("PROTOCOL_STATE", "a masking that this party does not know");
  return masking;
}
