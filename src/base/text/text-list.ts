/**
 * A list of texts, as an array or packed (packed-texts.ts): ten million ids as strings would take half a gigabyte, and
 * packed a quarter of that.
 */
import { assert } from "../assert.ts";

export interface TextList extends Iterable<string> {
  readonly length: number;
  at(index: number): string | undefined;
}

/** Texts that are computed on access. */
export function computedTexts(length: number, at: (index: number) => string): TextList {
  return {
    length,
    at: (index) => (index >= 0 && index < length ? at(index) : undefined),
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index++) yield at(index);
    },
  };
}

export function textsBetween(texts: TextList, first: number, end: number): string[] {
  return Array.from({ length: end - first }, (_, i) => textAt(texts, first + i));
}

/** The text at a valid index. */
export function textAt(texts: TextList, index: number): string {
  const text = texts.at(index);
  assert(text !== undefined, `text ${index} of ${texts.length}`);
  return text;
}
