/** The bytes of vectors in memory, which both kernels slice, join and clear alike. */
import { assert } from "../../base/assert.ts";
import { ObfuscatorVector, ResidentVector } from "./vectors.ts";

type HeldVector = ResidentVector | ObfuscatorVector;

/** Shares its elements with `vector`. */
export function sliced<V extends HeldVector>(vector: V, first: number, count: number): V {
  assert(
    Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1 && first + count <= vector.count,
    "a slice is not empty and lies inside its vector",
  );
  const { bytes, sizeBytes } = vector;
  return like(vector, bytes.subarray(first * sizeBytes, (first + count) * sizeBytes));
}

/** A copy of all elements, one vector after the other. */
export function joined<V extends HeldVector>(vectors: readonly V[]): V {
  assert(vectors.length >= 1, "there is something to join");
  const bytes = new Uint8Array(vectors.reduce((sum, vector) => sum + vector.bytes.length, 0));
  let at = 0;
  for (const vector of vectors) {
    bytes.set(vector.bytes, at);
    at += vector.bytes.length;
  }
  return like(vectors[0], bytes);
}

/** Writes one element to many places. */
export function fill(target: ResidentVector, elements: Uint32Array, { bytes, count }: ResidentVector): void {
  assert(count === 1, "a filling is one element");
  for (const element of elements) {
    assert(element < target.count, "a cleared element exists");
    target.bytes.set(bytes, element * target.sizeBytes);
  }
}

function like<V extends HeldVector>(vector: V, bytes: Uint8Array): V {
  const { sizeBytes } = vector;
  const made: HeldVector =
    vector.kind === "resident" ? new ResidentVector(bytes, sizeBytes) : new ObfuscatorVector(bytes, sizeBytes);
  return made as V;
}
