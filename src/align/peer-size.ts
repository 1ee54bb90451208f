/**
 * How many ids a passive party may bring, from the active party's side. A passive party learns which of its ids are
 * common, so one that fills its table with guesses learns who is a customer here. A bound is the only thing that holds
 * against that: guesses look like any other masked id. What looks like guessing is said aloud.
 */
import { TandemError } from "../base/error.ts";

/** Partners of very different size exist; a table of guesses is larger still. */
const timesOwnMax = 20;
/** All of the own ids among so many times more: a table of everybody, or of every number there can be. */
const timesOwnMaxIfAllCommon = 5;

/** @throws TandemError POLICY, before a masked id has been sent to anybody */
export function checkPeerSize(peer: string, idCount: number, idCountMax: number): void {
  if (idCount <= idCountMax) return;
  throw new TandemError(
    "POLICY",
    `${peer} brings ${idCount} ids; at most ${idCountMax} are allowed here (max_passive_ids): it learns which of ` +
      "them this party holds",
  );
}

/** What to tell the owner of the active party before anything is sent; null: nothing. */
export function suspiciousSize(idCount: number, ownCount: number): string | null {
  if (ownCount === 0 || idCount <= timesOwnMax * ownCount) return null;
  return (
    `it brings ${idCount} ids, more than ${timesOwnMax} times the ${ownCount} of this party. A table filled with ` +
    "guessed ids looks like this, and would tell it who is known here"
  );
}

/** The same once it is known who is common, and before the passive party is told. */
export function suspiciousOverlap(idCount: number, ownCount: number, sharedCount: number): string | null {
  if (ownCount === 0 || sharedCount < ownCount || idCount <= timesOwnMaxIfAllCommon * ownCount) return null;
  return (
    `it holds all ${ownCount} ids of this party, among ${idCount}. A table of all ids that there can be looks like ` +
    "this, and would tell it everybody who is known here"
  );
}
