/**
 * How many ids a passive party may bring, from the active party's side. A passive party learns which of its ids are
 * common, so one that fills its table with guesses learns who is a customer here. Only a bound prevents that: guesses
 * look like any other masked id. Counts that suggest guessing raise an alarm.
 */
import { TandemError } from "../base/error.ts";

/** Honest partners may differ much in size; a table of guesses is larger still. */
const timesOwnMax = 20;
/** All own ids are among this many times more: a table of all people, or of all possible numbers. */
const timesOwnMaxIfAllCommon = 5;

/** @throws TandemError POLICY, before a masked id is sent */
export function checkPeerSize(peer: string, idCount: number, idCountMax: number): void {
  if (idCount <= idCountMax) return;
  throw new TandemError(
    "POLICY",
    `${peer} brings ${idCount} ids; at most ${idCountMax} are allowed here (max_passive_ids): it learns which of ` +
      "them this party holds",
  );
}

/** The reason for an alarm before anything is sent; null: none. */
export function suspiciousSize(idCount: number, ownCount: number): string | null {
  if (ownCount === 0 || idCount <= timesOwnMax * ownCount) return null;
  return (
    `it brings ${idCount} ids, more than ${timesOwnMax} times the ${ownCount} of this party. A table filled with ` +
    "guessed ids looks like this, and would reveal to it who is known here"
  );
}

/** The same once the common ids are known, and before they are sent to the passive party. */
export function suspiciousOverlap(idCount: number, ownCount: number, sharedCount: number): string | null {
  if (ownCount === 0 || sharedCount < ownCount || idCount <= timesOwnMaxIfAllCommon * ownCount) return null;
  return (
    `it holds all ${ownCount} ids of this party, among ${idCount}. A table of all possible ids looks like this, and ` +
    "would reveal to it everyone who is known here"
  );
}
