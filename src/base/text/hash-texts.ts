/**
 * Many texts into a digest, each preceded by its length in bytes, so that none can run on. Some hundred at a time: a
 * call for each would take most of the time.
 */
import type { Hash } from "node:crypto";

const charsPerCall = 1 << 14;

/** In steps: of many texts others may have their turn in between. */
export function* hashTexts(hash: Hash, texts: Iterable<string>): Generator<void> {
  let waiting = "";
  for (const text of texts) {
    waiting += `${Buffer.byteLength(text)}:${text}`;
    if (waiting.length < charsPerCall) continue;
    hash.update(waiting);
    waiting = "";
    yield;
  }
  hash.update(waiting);
}
