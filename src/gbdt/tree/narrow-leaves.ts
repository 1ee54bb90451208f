/** Each instance's leaf in a tree, in as few bytes as the tree's size needs. */

export type NarrowLeaves = Uint8Array | Uint16Array | Uint32Array;

/** @param treeSize determines the bytes per number */
export function narrow(leaves: Uint32Array, treeSize: number): NarrowLeaves {
  const bytes = narrowBytes(treeSize);
  return bytes === 1 ? new Uint8Array(leaves) : bytes === 2 ? new Uint16Array(leaves) : leaves;
}

export function widened({ buffer, length }: Uint8Array, treeSize: number): Uint32Array {
  const bytes = narrowBytes(treeSize);
  const count = Math.floor(length / bytes);
  if (bytes === 4) return new Uint32Array(buffer, 0, count);
  return new Uint32Array(bytes === 1 ? new Uint8Array(buffer, 0, count) : new Uint16Array(buffer, 0, count));
}

/** Bytes per node id. */
export function narrowBytes(treeSize: number): 1 | 2 | 4 {
  if (treeSize <= 1 << 8) return 1;
  return treeSize <= 1 << 16 ? 2 : 4;
}
