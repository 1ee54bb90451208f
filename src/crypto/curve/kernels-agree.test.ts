/** Every native kernel gives the bytes of the portable one, at the limits of limbs, digits, lanes and tables too. */
import { describe, expect, it } from "vitest";
import { nativeCurveKernels } from "../../../test/support/curve-kernels.ts";
import { SeededRandom } from "../../base/random.ts";
import { fieldPrime, groupOrder } from "../edwards25519.ts";
import { integerBytes } from "../integers.ts";
import type { AnswerRequest, Curve, HistogramRequest } from "./kernel.ts";
import { portableCurveKernel } from "./portable-curve.ts";

const portable = portableCurveKernel.curve(1);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const wide = (values: readonly bigint[]): Uint8Array => Buffer.concat(values.map((value) => integerBytes(value, 64)));
const iota = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

function bytesFrom(random: SeededRandom, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.below(256));
}

/** Digits at their limits, the order, numbers that reduction changes, and random ones. */
function scalarsToTry(): Uint8Array {
  const edges = [0n, 1n, 2n, 31n, 32n, 33n, 63n, 64n, groupOrder - 1n, groupOrder, groupOrder + 1n];
  const large = [2n ** 252n - 1n, 2n ** 252n, 2n ** 253n, 2n ** 256n - 1n, 2n ** 256n, 2n ** 512n - 1n];
  const digits = [32n, 31n, 33n].map((digit) =>
    Array.from({ length: 42 }).reduce<bigint>((sum) => sum * 64n + digit, 0n),
  );
  return Buffer.concat([wide([...edges, ...large, ...digits]), bytesFrom(new SeededRandom(5), 64 * 12)]);
}

/** The portable kernel is slow: what it computes is computed once for all native ones. */
const computed = new Map<string, Promise<unknown>>();
async function once<T>(name: string, compute: () => Promise<T>): Promise<T> {
  if (!computed.has(name)) computed.set(name, compute());
  return (await computed.get(name)) as T;
}

const pointCount = 450;
async function pointsToTry(count: number): Promise<Uint8Array> {
  const all = await once("points", async () => {
    const scalars = await portable.scalars(bytesFrom(new SeededRandom(9), 64 * pointCount));
    return portable.multiples(scalars, iota(pointCount));
  });
  return all.slice(0, 32 * count);
}

/** The index of the first invalid point, or the encoding of all. */
async function outcome(curve: Curve, bytes: Uint8Array): Promise<string> {
  try {
    return hex(await curve.encode(await curve.decode(bytes, 1)));
  } catch (error) {
    return String((error as Error).message);
  }
}

describe.each(nativeCurveKernels)("$name", (kernel) => {
  const curve = kernel.curve(2);

  it("multiplies the base point by scalars at their limits", async () => {
    const bytes = scalarsToTry();
    const places = iota(bytes.length / 64).toReversed();
    const made = async (each: Curve): Promise<string> => hex(await each.multiples(await each.scalars(bytes), places));
    expect(await made(curve)).toBe(await once("multiples", () => made(portable)));
  });

  it("encrypts numbers of either sign", async () => {
    const bytes = scalarsToTry();
    const places = Uint32Array.of(3, 0, 8, 20, 20, 31, 12, 9, 10);
    const plaintexts = Int32Array.from(
      { length: 3 * places.length },
      (_, i) => [0, 1, -1, 65_536, -65_536, 2 ** 31 - 1, -(2 ** 31)][i % 7],
    );
    const made = async (each: Curve): Promise<string> => {
      const secrets = await each.scalars(bytes.slice(64 * 21, 64 * 24));
      return hex(await each.encrypt({ rows: await each.scalars(bytes), places, secrets, plaintexts }));
    };
    expect(await made(curve)).toBe(await once("encrypted", () => made(portable)));
  });

  it("decodes every y near 0, p and 2^255, with either sign, as the portable kernel does", async () => {
    const near = [0n, 2n ** 51n, 2n ** 102n, 2n ** 153n, 2n ** 204n, 2n ** 255n - 40n, (fieldPrime - 1n) / 2n];
    const values = near.flatMap((from) => Array.from({ length: 20 }, (_, i) => from + BigInt(i)));
    let valid = 0;
    for (const y of values)
      for (const sign of [0n, 1n]) {
        const bytes = integerBytes(y | (sign << 255n), 32);
        const expected = await once(`decoded ${y} ${sign}`, () => outcome(portable, bytes));
        expect(await outcome(curve, bytes), `y = ${y}, sign ${sign}`).toBe(expected);
        if (expected === hex(bytes)) valid++;
      }
    expect(valid).toBeGreaterThan(50);
  });

  it("names the first invalid point of a batch", async () => {
    const bytes = await pointsToTry(40);
    for (const bad of [0, 7, 8, 15, 16, 39]) {
      const spoiled = bytes.slice();
      spoiled.fill(0xff, 32 * bad);
      expect(await outcome(curve, spoiled)).toBe(`point ${bad} is not a valid point of edwards25519`);
    }
  });

  it("adds the same point to itself, to its negative and to the neutral point", async () => {
    const [point] = [await pointsToTry(1)];
    const negative = point.slice();
    negative[31] ^= 0x80;
    const neutral = integerBytes(1n, 32);
    const list = [point, negative, neutral];
    const pairs = list.flatMap((a) => list.map((b) => [a, b] as const));
    const sums = async (each: Curve): Promise<string> => {
      const [a, b] = [0, 1].map((side) => each.decode(Buffer.concat(pairs.map((pair) => pair[side])), 1));
      return hex(await each.encode(await each.add(await a, await b)));
    };
    expect(await sums(curve)).toBe(await sums(portable));
  });
});

describe.each(nativeCurveKernels)("$name histograms and answers", (kernel) => {
  const curve = kernel.curve(2);
  const random = new SeededRandom(3);
  const rowCount = pointCount / 3;
  const binCounts = Uint32Array.of(3, 4, 33, 2, 1);
  const bins = Array.from(binCounts, (count, f) =>
    Uint16Array.from({ length: rowCount }, () => Math.min(random.below(count), f === 2 ? 32 : random.below(count))),
  );
  const rows = iota(rowCount).filter(() => random.below(5) > 0);

  it.each([
    { title: "joint bins", jointBins: true, skippedBins: Int32Array.of(-1, -1, -1, -1, -1) },
    { title: "joint bins and skipped ones", jointBins: true, skippedBins: Int32Array.of(0, 2, 32, 1, 0) },
    { title: "each feature alone", jointBins: false, skippedBins: Int32Array.of(-1, 0, -1, 1, -1) },
  ])("$title", async ({ title, jointBins, skippedBins }) => {
    const points = await pointsToTry(3 * rowCount);
    const made = async (each: Curve): Promise<string[]> => {
      const bases = each.points(rowCount, 1);
      const values = each.points(rowCount, 2);
      await each.load(points.subarray(0, 32 * rowCount), bases, iota(rowCount));
      const reversed = iota(rowCount).toReversed();
      await each.load(points.subarray(32 * rowCount), values, reversed);
      const request: HistogramRequest = { sources: [bases, values], rows, bins, binCounts, skippedBins, jointBins };
      const sums = await each.histogram(request);
      const answer = await each.answer({ ...chains(), bases: sums[0], values: sums[1], keys: await keys(each) });
      return [...(await Promise.all(sums.map((sum) => each.encode(sum)))), answer].map(hex);
    };
    expect(await made(curve)).toEqual(await once(title, () => made(portable)));
  });

  async function keys(each: Curve): ReturnType<Curve["keys"]> {
    return each.keys(await pointsToTry(2));
  }

  /** Bins of the first three features in chains; a suppressed candidate, noise of either sign, masks at limits. */
  function chains(): Omit<AnswerRequest, "bases" | "values" | "keys"> {
    return {
      chainOffsets: Uint32Array.of(0, 3, 3, 7, 12),
      sources: Uint32Array.of(0, 1, 2, 6, 5, 4, 3, 7, 8, 8, 39, 9),
      targets: Int32Array.of(4, -1, 0, 1, 2, -1, 3, -1, 5, 6, 7, 8),
      suppressed: Uint8Array.of(0, 0, 1, 0, 0, 0, 0, 1, 0),
      noise: Float64Array.from({ length: 18 }, (_, i) => [0, 1, -1, 2 ** 35 - 1, 1 - 2 ** 35, 12_345][i % 6]),
      masks: Buffer.concat([wide([0n, 1n, groupOrder - 1n, 2n ** 512n - 1n]), bytesFrom(new SeededRandom(8), 64 * 5)]),
    };
  }

  it("no rows and no candidates", async () => {
    const points = curve.points(4, 1);
    const [sums] = await curve.histogram({
      sources: [points],
      rows: new Uint32Array(0),
      bins: [Uint16Array.of(0, 1, 0, 1)],
      binCounts: Uint32Array.of(2),
      skippedBins: Int32Array.of(-1),
      jointBins: true,
    });
    expect(hex(await curve.encode(sums))).toBe(hex(integerBytes(1n, 32)).repeat(2));
    const request = { ...chains(), bases: sums, values: sums, keys: await curve.keys(await pointsToTry(1)) };
    const none = { chainOffsets: Uint32Array.of(0), sources: new Uint32Array(0), targets: new Int32Array(0) };
    const empty = { suppressed: new Uint8Array(0), noise: null, masks: new Uint8Array(0) };
    expect(await curve.answer({ ...request, ...none, ...empty })).toHaveLength(0);
  });
});

describe.each(nativeCurveKernels)("$name logarithms", (kernel) => {
  const curve = kernel.curve(1);
  const babies = 2 ** 18;
  const reach = 128 * babies;

  /** C = v 8 B and A the neutral point: 8 (C - s A) = 64 v B. */
  async function opened(values: readonly number[], bounds: readonly number[], centres?: readonly number[]) {
    const scalars = values.map((value) => BigInt(value) * 8n + groupOrder);
    const points = await portable.multiples(await portable.scalars(wide(scalars)), iota(values.length));
    const neutral = integerBytes(1n, 32);
    const candidates = values.flatMap((_, i) => [neutral, points.subarray(32 * i, 32 * i + 32)]);
    return curve.open({
      secrets: await curve.scalars(wide([7n])),
      points: Buffer.concat(candidates),
      centres: Float64Array.from(centres ?? values.map(() => 0)),
      bounds: Float64Array.from(bounds),
      logarithms: await curve.logarithms(reach),
    });
  }

  it("finds numbers at the limits of the table, of steps and of the bound", async () => {
    const stride = 2 * babies + 1;
    const edges = [
      0,
      1,
      2,
      babies - 1,
      babies,
      babies + 1,
      stride - 1,
      stride,
      stride + 1,
      3 * stride,
      reach - 1,
      reach,
    ];
    const values = edges.flatMap((value) => (value === 0 ? [0] : [value, -value]));
    expect([
      ...(await opened(
        values,
        values.map(() => reach),
      )),
    ]).toEqual(values);
    expect([...(await opened(values, values.map(Math.abs)))]).toEqual(values);
  });

  it("finds nothing beyond the bound, and opens nothing with a bound of -1", async () => {
    const values = [reach + 1, -reach - 1, babies + 1, 101, -101, 100, -100, 5];
    const bounds = [reach, reach, babies, 100, 100, 100, 100, -1];
    expect([...(await opened(values, bounds))]).toEqual([NaN, NaN, NaN, NaN, NaN, 100, -100, 0]);
  });

  it("finds numbers around a centre of either sign", async () => {
    const centres = [1000, -1000, 2 ** 36 - 1, 1 - 2 ** 36, 0];
    const values = [1100, -900, 2 ** 36 - 50, 50 - 2 ** 36, 77];
    expect([
      ...(await opened(
        values,
        values.map(() => 100),
        centres,
      )),
    ]).toEqual(values);
    expect([...(await opened([1101, 899], [100, 100], [1000, 1000]))]).toEqual([NaN, NaN]);
  });

  it("keeps one table for every smaller reach", async () => {
    const table = await curve.logarithms(reach);
    expect(await curve.logarithms(1000)).toBe(table);
    expect(table.reach).toBeGreaterThanOrEqual(reach);
  });

  it("wiped scalars are not accepted any more", async () => {
    const scalars = await curve.scalars(wide([5n]));
    curve.wipe(scalars);
    await expect(curve.multiples(scalars, Uint32Array.of(0))).rejects.toThrow(/wiped/);
  });
});
