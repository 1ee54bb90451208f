import { expect, test } from "vitest";
import { SeededRandom } from "../../../base/random.ts";
import { laneCount, latticeSets } from "../parameters/sets.ts";
import { latticeModulus } from "../parameters/job-bounds.ts";
import { packRecords, unpackRecords } from "./records.ts";
import { Words } from "./words.ts";

const random = new SeededRandom("words");
const sets = [latticeSets.A, latticeSets.B];

function below(limit: bigint): bigint {
  let value = 0n;
  for (let i = 0; i < 6; i++) value = (value << 32n) | BigInt(random.uint32());
  return value % limit;
}

test("a word is within 133/256 of 2^F x / q, and survives serialisation", () => {
  for (const set of sets) {
    const q = latticeModulus(set);
    const words = new Words(set);
    const bytes = new Uint8Array(3 * words.sizeBytes);
    const edges = [0n, 1n, q - 1n, q / 2n, q / 2n + 1n, ...set.primes, ...set.primes.map((p) => q / p)];
    let largest = 0n;
    for (const x of [...edges, ...Array.from({ length: 2000 }, () => below(q))]) {
      const word = words.of((l) => Number(x % set.primes[l]));
      // q word - 2^F x, modulo q 2^F: the error of the word in units of q.
      const off = words.signed(word) * q - (x > q / 2n ? x - q : x) * 2n ** words.bits;
      const around = q * 2n ** words.bits;
      const distance = [off, off + around, off - around]
        .map((d) => (d < 0n ? -d : d))
        .reduce((a, b) => (a < b ? a : b));
      if (distance > largest) largest = distance;
      words.write(bytes, 1, word);
      expect(words.read(bytes, 1)).toBe(word);
    }
    expect(256n * largest < 133n * q).toBe(true);
    // It is rounded, not truncated: some are off by nearly half.
    expect(100n * largest > 49n * q).toBe(true);
    expect([bytes[0], bytes[3 * words.sizeBytes - 1]]).toEqual([0, 0]);
  }
});

test("words are little-endian", () => {
  const bytes = new Uint8Array(7);
  new Words(latticeSets.A).write(bytes, 0, 0x0102030405060708n & (2n ** 56n - 1n));
  expect([...bytes]).toEqual([8, 7, 6, 5, 4, 3, 2]);
});

test("records are fields of 50 bits of one little-endian integer", () => {
  for (const set of sets) {
    const width = laneCount(set);
    const lanes = Float64Array.from({ length: 20 * width }, (_, i) => {
      const p = set.primes[i % set.primes.length];
      return Number(i < width ? p - 1n : i < 2 * width ? BigInt(i) : below(p));
    });
    const records = new Uint8Array(20 * set.recordBytes);
    packRecords(set, lanes, records);
    for (let i = 0; i < 20; i++) {
      const fields = lanes.subarray(i * width, (i + 1) * width);
      const integer = fields.reduceRight((sum, residue) => (sum << 50n) | BigInt(residue), 0n);
      const bytes = records.slice(i * set.recordBytes, (i + 1) * set.recordBytes).toReversed();
      expect(BigInt(`0x${Buffer.from(bytes).toString("hex")}`)).toBe(integer);
    }
    const back = new Float64Array(lanes.length);
    expect(unpackRecords(set, records, back)).toBe(-1);
    expect(back).toEqual(lanes);
  }
});

test("a non-canonical record is rejected by its index", () => {
  for (const set of sets) {
    const width = laneCount(set);
    for (let lane = 0; lane < width; lane++) {
      const lanes = new Float64Array(5 * width);
      const prime = Number(set.primes[lane % set.primes.length]);
      const records = new Uint8Array(5 * set.recordBytes);
      lanes[3 * width + lane] = prime;
      packRecords(set, lanes, records);
      expect(unpackRecords(set, records, new Float64Array(lanes.length))).toBe(3);
      lanes[3 * width + lane] = prime - 1;
      packRecords(set, lanes, records);
      expect(unpackRecords(set, records, new Float64Array(lanes.length))).toBe(-1);
    }
  }
  // Set B uses 150 of 152 bits.
  for (const bit of [0x40, 0x80]) {
    const records = new Uint8Array(2 * 19);
    records[37] = bit;
    expect(unpackRecords(latticeSets.B, records, new Float64Array(6))).toBe(1);
  }
});
