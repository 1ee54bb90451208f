/** LowerSide on the wire: a byte per candidate, 0 no constraint, 1 for 1 and 2 for -1. */
import { TandemError } from "../../base/error.ts";

const values = [0, 1, -1];

export function lowerSideBytes(lowerSides: Int8Array): Uint8Array {
  return Uint8Array.from(lowerSides, (side) => values.indexOf(side));
}

/** @throws TandemError PROTOCOL_STATE for a wrong number of bytes, or an undefined value */
export function lowerSidesFrom(bytes: Uint8Array, candidateCount: number): Int8Array {
  if (bytes.length !== candidateCount || bytes.some((byte) => byte >= values.length))
    throw new TandemError("PROTOCOL_STATE", "monotone constraints (lower_sides) do not match the candidates");
  return Int8Array.from(bytes, (byte) => values[byte]);
}
