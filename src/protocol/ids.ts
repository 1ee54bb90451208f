/**
 * A digest over a list of ids: equal exactly if the lists are. Each id is preceded by its length, so that the
 * concatenation is unambiguous.
 */
import { createHash } from "node:crypto";
import { atOnce, inTurns } from "../base/scheduling/event-loop-slice.ts";
import { hashTexts } from "../base/text/hash-texts.ts";
import type { TextList } from "../base/text/text-list.ts";

export function idsDigest(ids: TextList): Uint8Array {
  return atOnce(digested(ids));
}

/** The same, yielding to the event loop. */
export function idsDigestInTurns(ids: TextList): Promise<Uint8Array> {
  return inTurns(digested(ids));
}

function* digested(ids: TextList): Generator<void, Uint8Array> {
  const hash = createHash("sha256").update(`tandem/ids/${ids.length}\n`);
  yield* hashTexts(hash, ids);
  return Uint8Array.from(hash.digest());
}
