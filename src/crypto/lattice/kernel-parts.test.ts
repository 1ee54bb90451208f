/** Processing a node in parts gives the same result as the whole, and every kernel rejects non-canonical values. */
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { type AttemptJob, cutChains, TestAttempt, testSeed } from "../../../test/support/lattice-node.ts";
import { readInteger, writeInteger } from "../integers.ts";
import { loadNativeLattice } from "./native/native-kernel.ts";
import { laneCount, type LatticeSet, latticeSets, wordBytes } from "./parameters/sets.ts";

const kernels = [...loadNativeLattice().kernels.values()];
if (kernels.length === 0) console.warn("native kernel not built: parts of nodes are not tested on it");
const cases = kernels.flatMap((kernel) => Object.values(latticeSets).map((set) => ({ kernel, set })));

function jobOf(set: LatticeSet): { readonly job: AttemptJob; readonly columns: readonly Int32Array[] } {
  const rowCount = set.degree + 700;
  const random = new SeededRandom("parts");
  const bins = [7, 4].map((count) => Uint16Array.from({ length: rowCount }, () => random.below(count)));
  const columns = [
    Int32Array.from({ length: rowCount }, () => random.below(2001) - 1000),
    Int32Array.from({ length: rowCount }, () => random.below(1001)),
  ];
  const chains = cutChains(bins, Uint32Array.of(7, 4));
  return { job: { set, rowCount, resolutionBits: 10, bins, chains }, columns };
}

describe.each(cases)("kernel $kernel.name, set $set.name", ({ kernel, set }) => {
  it("encrypts any range of records", async () => {
    const { job, columns } = jobOf(set);
    const attempt = await TestAttempt.start(kernel, job);
    const { records } = await attempt.node(columns);
    const total = set.degree + job.rowCount;
    for (const [first, end] of [
      [0, 1],
      [3, set.degree + 9],
      [set.degree - 1, set.degree],
      [set.degree, total],
      [2 * set.degree - 5, total - 1],
      [total - 1, total],
      [total, total],
    ]) {
      const part = new Uint8Array((end - first) * set.recordBytes).fill(255); // every byte is written
      await attempt.lattice.seal(testSeed(12), columns, first, end - first, part);
      const whole = records.subarray(first * set.recordBytes, end * set.recordBytes);
      expect(Buffer.compare(part, whole), `records ${first} to ${end}`).toBe(0);
    }
  });

  it("adds records in parts, and detects non-canonical ones before it adds any", async () => {
    const { job, columns } = jobOf(set);
    const attempt = await TestAttempt.start(kernel, job, 2);
    const { records, cells, products } = await attempt.node(columns);
    const { lattice, rowBins, candidateCount } = attempt;
    const { binCounts } = job.chains;
    const rows = records.slice(set.degree * set.recordBytes);
    const inParts = attempt.emptyCells();
    for (const [first, end] of [
      [0, 1],
      [1, 18],
      [18, 18],
      [18, job.rowCount],
    ]) {
      const part = rows.subarray(first * set.recordBytes, end * set.recordBytes);
      expect(await lattice.accumulate(rowBins, binCounts, part, first, inParts)).toBe(-1);
    }
    expect(inParts).toEqual(cells);

    const masks = records.slice(0, set.degree * set.recordBytes);
    for (const [at, flaw] of flaws(set).entries()) {
      const row = [0, 5, job.rowCount - 1][at % 3];
      for (const later of [row, job.rowCount - 1]) spoil(rows, set, later, flaw);
      expect(await lattice.accumulate(rowBins, binCounts, rows, 0, inParts)).toBe(row);
      expect(inParts).toEqual(cells);
      rows.set(records.subarray(set.degree * set.recordBytes));

      spoil(masks, set, set.degree - 1 - at, flaw);
      const untouched = products.slice();
      expect(await lattice.maskProducts(attempt.masks, masks, candidateCount, untouched)).toBe(set.degree - 1 - at);
      expect(untouched).toEqual(products);
      masks.set(records.subarray(0, masks.length));
    }
  });

  it("computes inner products of many seeds as for each alone, and decrypts some candidates", async () => {
    const { job, columns } = jobOf(set);
    const attempt = await TestAttempt.start(kernel, job);
    const { lattice, candidateCount, table } = attempt;
    const { answer, sums } = await attempt.node(columns);
    const size = lattice.dotCount(candidateCount);
    const seeds = Uint8Array.from({ length: 32 * 11 }, (_, i) => (i % 32 === 0 ? 12 + i / 32 : 0));
    const together = new BigUint64Array(11 * size);
    await lattice.dots(table, candidateCount, seeds, together);
    const alone = new BigUint64Array(size);
    for (let i = 0; i < 11; i += 5) {
      await lattice.dots(table, candidateCount, seeds.subarray(32 * i, 32 * i + 32), alone);
      expect(together.subarray(i * size, (i + 1) * size)).toEqual(alone);
    }
    const positions = Uint32Array.of(8, 0, 3);
    const bytes = set.groups * wordBytes(set);
    const words = Uint8Array.from([...positions].flatMap((at) => [...answer.subarray(at * bytes, (at + 1) * bytes)]));
    const some = new Float64Array(6);
    await lattice.open(together.subarray(0, size), candidateCount, words, positions, some);
    expect([...some]).toEqual([...positions].flatMap((at) => [...sums.subarray(2 * at, 2 * at + 2)]));
  });
});

type Flaw = (record: bigint) => bigint;

/** p in every lane, all ones in every lane, and bits beyond the last lane where a byte has room for them. */
function flaws(set: LatticeSet): Flaw[] {
  const lanes = laneCount(set);
  const mask = (1n << 50n) - 1n;
  const withField = (lane: number, value: bigint): Flaw => {
    const shift = BigInt(50 * lane);
    return (record) => (record & ~(mask << shift)) | (value << shift);
  };
  const inLanes = Array.from({ length: lanes }, (_, lane) => [
    withField(lane, set.primes[lane % set.primes.length]),
    withField(lane, mask),
  ]);
  const spare = 8 * set.recordBytes - 50 * lanes;
  const beyond = Array.from(
    { length: spare },
    (_, i): Flaw =>
      (record) =>
        record | (1n << BigInt(50 * lanes + i)),
  );
  return [...inLanes.flat(), ...beyond];
}

function spoil(records: Uint8Array, set: LatticeSet, at: number, flaw: Flaw): void {
  writeInteger(records, set.recordBytes, at, flaw(readInteger(records, set.recordBytes, at)));
}
