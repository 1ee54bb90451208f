/**
 * Unambiguous JSON. A checksum or a signature is over the text, so the text must have one meaning: no duplicate field,
 * no number beyond a double, nothing between the tokens. Only text exactly as JSON.stringify writes it is accepted.
 */

/** @returns undefined if the text is not JSON, or JSON.stringify would write the value differently */
export function exactJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined; // not JSON, or nested too deeply
  }
}
