import { expect, test } from "vitest";
import { newShares, NodeMasks, setShare, shareBytes, siblingShares, withAdded } from "./node-masks.ts";

const secret = new Uint8Array(32).fill(7);
const node = { tree: 3, node: 5, digest: new Uint8Array(32).fill(1) };
const all = (masks: NodeMasks): bigint[] => [0, 1, 2].flatMap((c) => [0, 1].map((slot) => masks.of(c, slot, 96)));

function valuesOf(shares: Uint32Array): bigint[] {
  return Array.from({ length: (4 * shares.length) / shareBytes }, (_, i) =>
    BigInt.asIntN(
      128,
      [0, 1, 2, 3].reduce((sum, word) => sum + (BigInt(shares[4 * i + word]) << BigInt(32 * word)), 0n),
    ),
  );
}

test("the same node has the same masks; other nodes, gradients, members or secrets have others", () => {
  const masks = all(new NodeMasks(secret, node, 3, 2));
  expect(all(new NodeMasks(secret, node, 3, 2))).toEqual(masks);
  expect(new Set(masks).size).toBe(6);
  const others = [
    new NodeMasks(secret, { ...node, tree: 4 }, 3, 2),
    new NodeMasks(secret, { ...node, node: 6 }, 3, 2),
    new NodeMasks(secret, { ...node, digest: new Uint8Array(32).fill(2) }, 3, 2),
    new NodeMasks(new Uint8Array(32).fill(8), node, 3, 2),
  ].flatMap(all);
  expect(new Set([...masks, ...others]).size).toBe(30);
});

test("masks are below 2^bits, and of full width", () => {
  const masks = new NodeMasks(secret, node, 200, 2);
  for (const bits of [14, 35, 87]) {
    const drawn = Array.from({ length: 200 }, (_, c) => masks.of(c, 1, bits));
    expect(drawn.every((mask) => mask >= 0n && mask < 1n << BigInt(bits))).toBe(true);
    expect(drawn.some((mask) => mask >= 3n << BigInt(bits - 2))).toBe(true);
    expect(drawn.some((mask) => mask < 1n << BigInt(bits - 2))).toBe(true);
  }
});

test("shares are minus the masks, and those of a sibling are differences", () => {
  const masks = new NodeMasks(secret, node, 3, 2);
  const shares = masks.shares(1, 90);
  expect(valuesOf(shares)).toEqual([0, 1, 2].map((c) => -masks.of(c, 1, 90)));
  const parent = newShares(3);
  const own = [5n, -(1n << 100n), 0n];
  own.forEach((value, i) => setShare(parent, i, value));
  expect(valuesOf(siblingShares(parent, shares))).toEqual(own.map((value, i) => value + masks.of(i, 1, 90)));
  expect(valuesOf(withAdded(parent, 2 ** 31 + 1))).toEqual(own.map((value) => value + 2n ** 31n + 1n));
});
