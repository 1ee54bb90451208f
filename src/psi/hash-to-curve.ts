/**
 * An id as a point of Curve25519 of unknown discrete logarithm. Both parties must find the same point for the same id,
 * so this file is part of the protocol ("tandem/psi/v2"):
 *
 *   for counter = 0, 1, ...:
 *     digest = SHA-512("tandem/psi/v2/" + boundTo + "/" + counter in decimal + "/" + id), all in UTF-8
 *     for each half of the digest: clear its top bit; if it is the canonical u-coordinate of a point on the curve (not
 *     on the twist) that is not of small order, that is the answer
 *
 * `boundTo` is the fingerprint of the active party that the run is with: points relayed to a run with another active
 * party match nothing there.
 *
 * Half of all coordinates are on the curve: two attempts on average. Cofactor components do not matter, every X25519
 * scalar is a multiple of 8. The time taken depends on the id; it is spent on the id holder's own machine.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../base/error.ts";
import { isLargeOrderOnCurve, pointBytes, readCoordinate } from "./curve25519.ts";

export const hashDomain = "tandem/psi/v2";
/** Half a digest fails with probability 1/2: 2^-256 that all of these do. */
const countersMax = 128;

/**
 * Writes the point of `id` to `points` at `offset`.
 * @param boundTo lowercase hex digits; empty where parties have no certificates
 */
export function hashToCurve(id: string, points: Uint8Array, offset: number, boundTo = ""): void {
  for (let counter = 0; counter < countersMax; counter++) {
    const digest = createHash("sha512").update(`${hashDomain}/${boundTo}/${counter}/${id}`, "utf8").digest();
    for (let half = 0; half < digest.length; half += pointBytes) {
      digest[half + pointBytes - 1] &= 0x7f;
      if (!isLargeOrderOnCurve(readCoordinate(digest, half))) continue;
      points.set(digest.subarray(half, half + pointBytes), offset);
      return;
    }
  }
  throw new TandemError("INTERNAL", "no point was found for an id");
}
