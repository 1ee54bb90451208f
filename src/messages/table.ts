/**
 * The table of messages: every call of a job, and what it leaves in the chain of digests. A call of proto/ that is not
 * here, or one here that proto/ does not have, is a type error. What else has to know all calls, or all kinds of
 * entries, is derived from this table: the recorders at both ends, the order and the words of entries, and what an
 * auditor compares.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import type { CallFacts, CallName, EntryFacts } from "./call.ts";
import { finishJob, finishTree } from "./finish.ts";
import { gradients } from "./gradients.ts";
import { histograms } from "./histograms.ts";
import { order } from "./order.ts";
import { maskOpen, maskStep, predict, testRows } from "./predictions.ts";
import { hints, join, setUp } from "./set-up.ts";
import { hiddenSplits, outcomeKeys, splits } from "./splits.ts";

export const messages = {
  join,
  setUp,
  hints,
  gradients,
  histograms,
  order,
  splits,
  outcomeKeys,
  hiddenSplits,
  finishTree,
  testRows,
  predict,
  maskOpen,
  maskStep,
  finishJob,
} satisfies { readonly [Name in CallName]: CallFacts<Name, string> };

type KindOf<Facts> = Facts extends CallFacts<CallName, infer Kind> ? Kind : never;

/** The kinds of entries of a tree. */
export type EntryKind = { [Name in CallName]: KindOf<(typeof messages)[Name]> }[CallName];

/** What is known of each kind. Splits and hidden splits share kinds. */
export const entryFacts = Object.assign(
  {},
  ...Object.values(messages).map((facts: Pick<CallFacts<CallName, string>, "entries">) => facts.entries),
) as Readonly<Record<EntryKind, EntryFacts>>;

/**
 * A call's entry in the table.
 * TypeScript cannot follow names that are read from a descriptor; the table has one entry for each of them.
 */
export function factsOf({ localName }: DescMethod): CallFacts<CallName, EntryKind> {
  return messages[localName as CallName] as unknown as CallFacts<CallName, EntryKind>;
}
