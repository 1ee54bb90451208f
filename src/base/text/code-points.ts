/** The order of texts by code points, in which Python sorts; JavaScript's is of UTF-16, where some come earlier. */
export function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
