/**
 * The table of messages: every call of a job, what its messages reveal and add to the ledger, and its entries in the
 * chain of digests. A call of proto/ that is missing here, or one that proto/ does not have, is a type error.
 * Everything that depends on all calls, entries or observations is derived from this table: the recorders at both ends,
 * the order and texts of entries, the ledger, the tally, and what an auditor compares.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import type { AnyObservation, CallFacts, CallName, EntryFacts } from "./call.ts";
import { finishCalls } from "./finish.ts";
import { gradientCalls } from "./gradients.ts";
import { histogramCalls } from "./histograms.ts";
import { maximumCalls } from "./maximum.ts";
import { orderCalls } from "./order.ts";
import { predictionCalls } from "./predictions.ts";
import { setUpCalls } from "./set-up.ts";
import { splitCalls } from "./splits.ts";

type Observations = Readonly<Record<string, AnyObservation>>;

const messages = {
  ...setUpCalls,
  ...gradientCalls,
  ...histogramCalls,
  ...orderCalls,
  ...maximumCalls,
  ...splitCalls,
  ...finishCalls,
  ...predictionCalls,
} satisfies { readonly [Name in CallName]: CallFacts<Name, string, Observations, string> };

type OfProto<Name extends CallName> = Name;
type Facts = (typeof messages)[OfProto<keyof typeof messages>];
type KeysOf<Part> = keyof NonNullable<Part> & string;
type KindOf<Call> = Call extends { readonly entries?: infer Entries } ? KeysOf<Entries> : never;
type FieldOf<Call> = Call extends { readonly ledger?: infer Fields } ? KeysOf<Fields> : never;
type ObservedIn<Call> = Call extends { readonly observes?: infer Observed } ? NonNullable<Observed> : never;
type ObservedKind<Observed> = Observed extends unknown ? KeysOf<Observed> : never;

/** The kinds of entries of a tree. */
export type EntryKind = KindOf<Facts>;

/** The kinds of observations, and the definition of one. */
export type ObservationKind = ObservedKind<ObservedIn<Facts>>;
export type ObservationOf<Kind extends ObservationKind> =
  ObservedIn<Facts> extends infer Observed ? (Observed extends Readonly<Record<Kind, infer One>> ? One : never) : never;

/** The fields of the ledger. */
export type LedgerName = FieldOf<Facts>;

/** A call of any name, without its specific types. */
export type AnyCallFacts = CallFacts<CallName, EntryKind, Observations, LedgerName>;

/** The casts are needed because TypeScript cannot relate names from a list or a descriptor to entries. */
export const allCalls = Object.values(messages) as unknown as readonly AnyCallFacts[];

export function factsOf({ localName }: DescMethod): AnyCallFacts {
  return messages[localName as CallName] as unknown as AnyCallFacts;
}

/** The definition of each kind of entry. Splits and hidden splits share kinds. */
export const entryFacts = Object.assign({}, ...allCalls.map(({ entries }) => entries)) as Readonly<
  Record<EntryKind, EntryFacts>
>;
