/**
 * Hashes many texts, each preceded by its length in bytes, so that the encoding is unambiguous. A few hundred at a
 * time: one call for each would take most of the time.
 */
import type { Hash } from "node:crypto";
import { PackedTexts } from "./packed-texts.ts";

const charsPerCall = 1 << 14;
const textsPerCall = 1 << 12;

/** In steps, so that the caller can yield to the event loop. */
export function* hashTexts(hash: Hash, texts: Iterable<string>): Generator<void> {
  if (texts instanceof PackedTexts && texts.lengthPrefixed(0, 0) !== null) {
    for (let first = 0; first < texts.length; first += textsPerCall) {
      hash.update(texts.lengthPrefixed(first, Math.min(texts.length, first + textsPerCall)) ?? "");
      yield;
    }
    return;
  }
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
