/**
 * Mistakes that would be fatal, as attacks that work on arithmetic with the mistake in it; and what keeps each of them
 * away. The attackers compute with integers (crypto/edwards25519.ts).
 */
import { describe, expect, test } from "vitest";
import {
  answerOf,
  curveBench,
  instanceCount,
  newActive,
  newPassive,
  place,
  roundOf,
  take,
  treeOf,
} from "../../../test/support/curve-bench.ts";
import { pointBytes, wideScalarBytes } from "../../crypto/curve/kernel.ts";
import { rowScalars, rowSeed } from "../../crypto/curve/secrets.ts";
import { selectCurveKernel } from "../../crypto/curve/select-kernel.ts";
import {
  add,
  basePoint,
  decodedAnyOrder,
  encodedAll,
  groupOrder,
  Multiples,
  negative,
  neutral,
} from "../../crypto/edwards25519.ts";
import type { Point } from "../../crypto/edwards25519.ts";
import { integerBytes, modulo, readInteger } from "../../crypto/integers.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { CurveGradientsSchema, CurveSumsSchema } from "../../wire/generated/tandem/v1/curve_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";

const curve = selectCurveKernel().curve(1);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const seed = new Uint8Array(32).fill(3);
const places = Uint32Array.of(0, 1, 2, 3);
const multiples = new Multiples(basePoint);
const pointAt = (bytes: Uint8Array, place: number): Point =>
  decodedAnyOrder(bytes.subarray(place * pointBytes, (place + 1) * pointBytes));
const minus = (a: Point, b: Point): Point => add(a, negative(b));
const text = (point: Point): string => hex(encodedAll([point]));
const wide = (value: bigint): Uint8Array => integerBytes(modulo(value, groupOrder), wideScalarBytes);

/** The logarithm of a small multiple of B, as anyone can find it. */
function small(point: Point): number | null {
  for (let k = 0; k <= 40; k++) {
    if (text(multiples.by(BigInt(k))) === text(point)) return k;
    if (text(negative(multiples.by(BigInt(k)))) === text(point)) return -k;
  }
  return null;
}

async function rowsAnd(secrets: readonly bigint[]) {
  const rows = await curve.scalars(rowScalars(rowSeed(seed), 4));
  const held = await curve.scalars(Buffer.concat(secrets.map(wide)));
  return { rows, places, secrets: held };
}

describe("one secret for two rounds", () => {
  test("a passive party reads the differences of gradients", async () => {
    const request = await rowsAnd([123_456_789n]);
    const first = await curve.encrypt({ ...request, plaintexts: Int32Array.of(5, -3, 10, 0) });
    const second = await curve.encrypt({ ...request, plaintexts: Int32Array.of(7, -3, -4, 20) });
    const read = [...places].map((i) => small(minus(pointAt(second, i), pointAt(first, i))));
    expect(read).toEqual([2, 0, -14, 20]);
  });

  test("the active half never does: gradients that differ in one row have another secret", async () => {
    const active = newActive();
    const rounds = [];
    for (const made of [curveBench(), curveBench(0, 1 / 64)]) {
      await active.setUp({ layout: made.layout });
      const chunks = await roundOf(active, made, 0);
      const { points, keys } = decodeMessage(CurveGradientsSchema, chunks[1].message);
      rounds.push({ points, keys });
    }
    const [first, second] = rounds;
    expect(hex(second.keys)).not.toBe(hex(first.keys));
    for (let i = 0; i < 2 * instanceCount; i++)
      expect(small(minus(pointAt(second.points, i), pointAt(first.points, i)))).toBeNull();
  });
});

test("one secret for g and h: a passive party reads their difference; the halves have two", async () => {
  const request = await rowsAnd([77n, 77n]);
  const points = await curve.encrypt({ ...request, plaintexts: Int32Array.of(5, 3, 1, 1, 0, 9, 4, 2) });
  const read = [...places].map((i) => small(minus(pointAt(points, 2 * i), pointAt(points, 2 * i + 1))));
  expect(read).toEqual([2, 0, -9, 2]);

  const made = curveBench();
  const active = newActive();
  await active.setUp({ layout: made.layout });
  const [, { message }] = await roundOf(active, made);
  const { points: sent } = decodeMessage(CurveGradientsSchema, message);
  for (let i = 0; i < instanceCount; i++)
    expect(small(minus(pointAt(sent, 2 * i), pointAt(sent, 2 * i + 1)))).toBeNull();
});

describe("one mask for two answers", () => {
  const h = Array.from(places, (i) => readInteger(rowScalars(rowSeed(seed), 4), wideScalarBytes, i) % groupOrder);

  async function masked(members: readonly number[], rho: bigint): Promise<Uint8Array> {
    const request = await rowsAnd([5n, 6n]);
    const plaintexts = Int32Array.of(1, 2, 3, 4, 1, 2, 9, 9);
    const [bases, values] = [curve.points(4, 1), curve.points(4, 2)];
    await curve.load(await curve.multiples(request.rows, places), bases, places);
    await curve.load(await curve.encrypt({ ...request, plaintexts }), values, places);
    const [sumsOfBases, sums] = await curve.histogram({
      sources: [bases, values],
      rows: Uint32Array.from(members),
      bins: [new Uint16Array(4)],
      binCounts: Uint32Array.of(1),
      skippedBins: Int32Array.of(-1),
      jointBins: false,
    });
    return curve.answer({
      bases: sumsOfBases,
      values: sums,
      chainOffsets: Uint32Array.of(0, 1),
      sources: Uint32Array.of(0),
      targets: Int32Array.of(0),
      suppressed: Uint8Array.of(0),
      noise: null,
      keys: await curve.keys(await curve.multiples(request.secrets, Uint32Array.of(0, 1))),
      masks: wide(rho),
    });
  }

  test("the active party, which knows every h, finds the instance in which they differ", async () => {
    const difference = minus(pointAt(await masked([0, 1, 2], 99n), 0), pointAt(await masked([0, 1], 99n), 0));
    const found = h.findIndex((scalar) => text(multiples.by((8n * scalar) % groupOrder)) === text(difference));
    expect(found).toBe(2);
  });

  test("masks are perfect: other members with the same sums give the same bytes under another mask", async () => {
    // Rows 0 and 2 have the same plaintexts.
    expect(hex(await masked([0, 1], 99n))).toBe(hex(await masked([2, 1], 99n + h[0] - h[2])));
    expect(hex(await masked([0, 1], 99n))).not.toBe(hex(await masked([2, 1], 99n)));
  });

  test("the passive half uses a fresh one for every other question, and the same one for the same", async () => {
    const made = curveBench();
    const [active, passive, nodes] = [newActive(), newPassive(), treeOf(made)];
    await passive.setUp(await active.setUp({ layout: made.layout }), made.job);
    await take(passive, nodes, await roundOf(active, made));
    place(
      nodes,
      1,
      2,
      0,
      bitmapFrom(instanceCount, (i) => i > 0),
    );
    const ofNode = async (node: number): Promise<string[]> => {
      const { points } = decodeMessage(CurveSumsSchema, (await answerOf(passive, nodes, node)).message);
      return Array.from({ length: points.length / (3 * pointBytes) }, (_, i) => text(pointAt(points, 3 * i)));
    };
    const [root, child] = [await ofNode(0), await ofNode(1)];
    expect(await ofNode(0)).toEqual(root);
    // All masks differ: no difference of two A is a sum of few bases.
    expect(new Set([...root, ...child]).size).toBe(root.length + child.length);
    const bases = new Set(
      Array.from({ length: instanceCount }, (_, i) => {
        const scalars = rowScalars(rowSeed(new Uint8Array(32).fill(1)), instanceCount);
        return text(multiples.by((8n * readInteger(scalars, wideScalarBytes, i)) % groupOrder));
      }),
    );
    root.forEach((a, i) => {
      const difference = minus(decodedAnyOrder(Buffer.from(a, "hex")), decodedAnyOrder(Buffer.from(child[i], "hex")));
      expect(bases.has(text(difference)) || text(difference) === text(neutral)).toBe(false);
    });
  });
});

describe("points of small order", () => {
  const orders = [
    ["2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"],
    ["4", "0000000000000000000000000000000000000000000000000000000000000000"],
    ["8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ] as const;
  const shifted = (bytes: Uint8Array, places: readonly number[], by: Point): Uint8Array => {
    const changed = Uint8Array.from(bytes);
    for (const place of places) changed.set(encodedAll([add(pointAt(bytes, place), by)]), place * pointBytes);
    return changed;
  };

  async function answered(change: (bases: Uint8Array, points: Uint8Array, keys: Uint8Array) => Uint8Array[]) {
    const request = await rowsAnd([5n, 6n]);
    const sent = [
      await curve.multiples(request.rows, places),
      await curve.encrypt({ ...request, plaintexts: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8) }),
      await curve.multiples(request.secrets, Uint32Array.of(0, 1)),
    ] as const;
    const [ofRows, points, ofKeys] = change(...sent);
    const [bases, values] = [curve.points(4, 1), curve.points(4, 2)];
    await curve.load(ofRows, bases, places);
    await curve.load(points, values, places);
    const [sumsOfBases, sums] = await curve.histogram({
      sources: [bases, values],
      rows: places,
      bins: [Uint16Array.of(0, 0, 1, 0)],
      binCounts: Uint32Array.of(2),
      skippedBins: Int32Array.of(-1),
      jointBins: false,
    });
    const answer = await curve.answer({
      bases: sumsOfBases,
      values: sums,
      chainOffsets: Uint32Array.of(0, 1, 2),
      sources: Uint32Array.of(0, 1),
      targets: Int32Array.of(0, 1),
      suppressed: new Uint8Array(2),
      noise: null,
      keys: await curve.keys(ofKeys),
      masks: Buffer.concat([wide(1234n), wide(777n)]),
    });
    return { answer, secrets: request.secrets };
  }

  test.each(orders)(
    "order %s: in bases, points and keys they change no byte of an answer",
    async (_order, encoding) => {
      const by = decodedAnyOrder(Buffer.from(encoding, "hex"));
      const { answer } = await answered((...sent) => [...sent]);
      const changes: readonly ((bases: Uint8Array, points: Uint8Array, keys: Uint8Array) => Uint8Array[])[] = [
        (bases, points, keys) => [shifted(bases, [0], by), points, keys],
        (bases, points, keys) => [bases, shifted(points, [1, 4], by), keys],
        (bases, points, keys) => [bases, points, shifted(keys, [0, 1], by)],
      ];
      for (const change of changes) expect(hex((await answered(change)).answer)).toBe(hex(answer));
    },
  );

  test.each(orders)("order %s: in an answer they change no opened sum", async (_order, encoding) => {
    const by = decodedAnyOrder(Buffer.from(encoding, "hex"));
    const { answer, secrets } = await answered((...sent) => [...sent]);
    const logarithms = await curve.logarithms(100);
    const open = (points: Uint8Array): Promise<Float64Array> =>
      curve.open({
        secrets,
        points,
        centres: new Float64Array(4),
        bounds: new Float64Array(4).fill(100),
        logarithms,
      });
    for (const place of [[0], [1], [2, 5], [3, 4]])
      expect([...(await open(shifted(answer, place, by)))]).toEqual([11, 14, 5, 6]);
  });
});
