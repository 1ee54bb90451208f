/** Streams of points: our own ids as masked points, and the checks on what a peer sends. */
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { pointsPerChunk, pointsPerChunkMax } from "./psi-peer.ts";
import { isCanonical, pointBytes } from "./curve25519.ts";
import { textAt, type TextList } from "../base/text/text-list.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";
import { hashToCurve } from "./hash-to-curve.ts";
import type { MaskingPool } from "./masking-pool.ts";
import { inOrder } from "./ordered-work.ts";

/** Ids hashed between two looks at the clock: under 1 ms. */
const idsPerLook = 32;

/** ids[order[0]], ids[order[1]], ... hashed to the curve and masked. */
export function maskedIds(
  ids: TextList,
  order: Uint32Array,
  pool: MaskingPool,
  boundTo: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  return inOrder(hashedIds(ids, order, boundTo), pool.callsAhead, async (points) => {
    const masked = await pool.mask(points);
    assert(!holdsZero(masked), "no id hashes to a point of small order");
    return masked;
  });
}

/** The points of a peer's stream, masked. @throws TandemError PROTOCOL_STATE as checkedPoints does */
export function maskedPeerPoints(
  chunks: AsyncIterable<Uint8Array>,
  count: number,
  sender: string,
  pool: MaskingPool,
): AsyncGenerator<Uint8Array, void, undefined> {
  return inOrder(checkedPoints(chunks, count, sender), pool.callsAhead, async (points) => {
    const masked = await pool.mask(points);
    if (holdsZero(masked)) throw refused(sender, "a point of small order");
    return masked;
  });
}

/**
 * Passes a peer's chunks on if there are `count` points in all, each one a canonical u-coordinate but zero. That a
 * point is on the curve is not checked: Curve25519's twist is as hard, and both groups' small subgroups end in zero.
 * @throws TandemError PROTOCOL_STATE saying what is wrong
 */
export async function* checkedPoints(
  chunks: AsyncIterable<Uint8Array>,
  count: number,
  sender: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let seen = 0;
  for await (const chunk of chunks) {
    if (chunk.length === 0 || chunk.length % pointBytes !== 0)
      throw refused(sender, `a chunk of ${chunk.length} bytes, not of whole 32-byte points`);
    if (chunk.length > pointsPerChunkMax * pointBytes)
      throw refused(sender, `a chunk of more than ${pointsPerChunkMax} points`);
    seen += chunk.length / pointBytes;
    if (seen > count) throw refused(sender, `more than the ${count} points that were announced`);
    for (let offset = 0; offset < chunk.length; offset += pointBytes) {
      if (!isCanonical(chunk, offset)) throw refused(sender, "a point that is not a canonical field element");
    }
    if (holdsZero(chunk)) throw refused(sender, "a point of small order");
    yield chunk;
  }
  if (seen !== count) throw refused(sender, `a stream that ended after ${seen} of ${count} points`);
}

function refused(sender: string, what: string): TandemError {
  return new TandemError("PROTOCOL_STATE", `${sender} sent ${what}`);
}

function holdsZero(points: Uint8Array): boolean {
  for (let offset = 0; offset < points.length; offset += pointBytes) {
    let i = offset;
    while (i < offset + pointBytes && points[i] === 0) i++;
    if (i === offset + pointBytes) return true;
  }
  return false;
}

async function* hashedIds(
  ids: TextList,
  order: Uint32Array,
  boundTo: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let first = 0; first < order.length; first += pointsPerChunk) {
    const end = Math.min(first + pointsPerChunk, order.length);
    const points = new Uint8Array((end - first) * pointBytes);
    for (let i = first; i < end; i++) {
      if (i % idsPerLook === 0 && isSliceOver()) await nextSlice();
      hashToCurve(textAt(ids, order[i]), points, (i - first) * pointBytes, boundTo);
    }
    yield points;
  }
}
