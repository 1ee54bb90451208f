/**
 * JSON text that says what it seems to say. A checksum or a signature is over the text, so the text must have one
 * meaning: no field twice, no number beyond a double, nothing between the tokens. That is the text which
 * JSON.stringify writes, and no other is accepted.
 */

/** @returns undefined if the text is no JSON, or another text of the same value would be written */
export function exactJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined; // no JSON, or nested deeper than the stack
  }
}
