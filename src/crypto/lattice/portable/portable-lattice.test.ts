import { describe, expect, test } from "vitest";
import {
  answerNode,
  knownAnswers,
  knownJob,
  type LatticeJob,
  makeHints,
  openAnswer,
  plainSums,
  runNode,
  sealNode,
  seedFrom,
  sha256,
  shapeOf,
} from "../../../../test/support/lattice-job.ts";
import { SeededRandom } from "../../../base/random.ts";
import { jobBounds } from "../parameters/job-bounds.ts";
import { portableLatticeKernel } from "./portable-lattice.ts";
import { laneCount, type LatticeSet, latticeSets, wordBytes } from "../parameters/sets.ts";

const { A, B } = latticeSets;

test.each(["A", "B"] as const)("known answers of set %s, byte for byte", async (name) => {
  const job = knownJob(latticeSets[name]);
  const { hints, node, answer, sums } = await runNode(portableLatticeKernel, job);
  const known = knownAnswers[name];
  expect(sums).toEqual(plainSums(job));
  expect([...sums.subarray(0, 4)]).toEqual(known.sums);
  expect([sha256(hints), sha256(node), sha256(answer)]).toEqual([known.hints, known.node, known.answer]);
});

/** One feature of three bins, the last without rows: candidates are no rows, some rows, all rows. */
function edgeJob(set: LatticeSet, rowCount: number, valueOf: (row: number, column: number) => number): LatticeJob {
  const bounds = jobBounds(set, { rowCount, resolutionBits: 24 });
  const rows = Array.from({ length: rowCount }, (_, i) => i);
  return {
    ...knownJob(set),
    shape: shapeOf(bounds),
    bounds,
    bins: [Uint16Array.from(rows, (i) => i % 2)],
    chains: {
      binCounts: Uint32Array.of(3),
      chainOffsets: Uint32Array.of(0, 3),
      sources: Uint32Array.of(2, 1, 0),
      targets: Int32Array.of(1, 0, 2),
    },
    candidateCount: 3,
    columns: [0, 1].map((column) => Int32Array.from(rows, (row) => valueOf(row, column))),
  };
}

describe("edge sizes", () => {
  const random = new SeededRandom("edges");
  const values = {
    random: (_: number, column: number) => random.below(2 ** 24) - (column === 0 ? 2 ** 23 : 0),
    largest: () => 2 ** 24,
    least: (_: number, column: number) => (column === 0 ? -(2 ** 24) : 0),
  };
  test.each([
    ["A", 1, "largest"],
    ["A", 2, "least"],
    ["A", A.degree - 1, "largest"],
    ["A", A.degree, "random"],
    ["A", A.degree + 1, "least"],
    ["B", 1, "least"],
    ["B", B.degree + 1, "largest"],
  ] as const)("sums are exact: set %s, %i rows, %s values", async (name, rowCount, kind) => {
    const job = edgeJob(latticeSets[name], rowCount, values[kind]);
    const { sums } = await runNode(portableLatticeKernel, job);
    expect(sums).toEqual(plainSums(job));
    expect([sums[2], sums[3]]).toEqual([0, 0]);
  });
});

test("noise of a passive party is added on the grid, in either set", async () => {
  for (const set of [A, B]) {
    const job = knownJob(set);
    const noiseMax = 100_000;
    const bounds = jobBounds(set, { rowCount: job.shape.rowCount, resolutionBits: 20, noiseMax });
    const noisy = { ...job, bounds, shape: shapeOf(bounds), columns: job.columns.map((column) => column.map(() => 0)) };
    const lattice = portableLatticeKernel.lattice(noisy.shape, 1);
    const drawn = [-100_000, 100_000, 0, -100_000, 7, 3, -1, -1, 0, 0, 99_999, -99_999];
    // The lower slot of set B must not become negative.
    const noise = Float64Array.from(drawn, (value, i) => value + (i % 2 === 1 ? bounds.slotOffset : 0));
    const { hints, masks } = await makeHints(lattice, noisy);
    const node = await sealNode(lattice, noisy, job.seeds.node);
    const answer = await answerNode(lattice, noisy, masks, node, { noise });
    const sums = await openAnswer(lattice, noisy, hints, job.seeds.node, answer);
    expect([...sums].map((sum, i) => sum - (i % 2 === 1 ? bounds.slotOffset : 0))).toEqual(drawn);
  }
});

describe("in pieces", () => {
  const job = knownJob(A);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const binTotal = 8;

  test("records do not depend on the pieces in which they are encrypted", async () => {
    const node = await sealNode(lattice, job, job.seeds.node);
    for (const [first, count] of [
      [0, 1],
      [4000, 200],
      [8190, 6],
      [4096, 4096],
    ]) {
      const part = new Uint8Array(count * 25);
      await lattice.seal(job.seeds.node, job.columns, first, count, part);
      expect(sha256(part)).toBe(sha256(node.subarray(first * 25, (first + count) * 25)));
    }
  });

  test("cells do not depend on the pieces in which rows arrive; a non-canonical record adds nothing", async () => {
    const rows = (await sealNode(lattice, job, job.seeds.node)).subarray(4096 * 25);
    const { binCounts } = job.chains;
    const rowBins = await lattice.rowBins(job.bins, binCounts);
    const [whole, pieces] = [0, 1].map(() => new BigUint64Array(lattice.cellCount(binTotal)));
    expect(await lattice.accumulate(rowBins, binCounts, rows, 0, whole)).toBe(-1);
    for (const [first, end] of [
      [0, 1],
      [1, 3000],
      [3000, 4100],
    ])
      await lattice.accumulate(rowBins, binCounts, rows.subarray(first * 25, end * 25), first, pieces);
    expect(pieces).toEqual(whole);
    const spoilt = rows.slice(0, 10 * 25);
    spoilt.fill(0xff, 7 * 25, 8 * 25);
    expect(await lattice.accumulate(rowBins, binCounts, spoilt, 0, pieces)).toBe(7);
    expect(pieces).toEqual(whole);
    const masks = new Uint8Array(lattice.maskBytes(1));
    const maskRow = new Uint8Array(4096 * 25);
    maskRow.fill(0xff, 4095 * 25);
    expect(await lattice.maskProducts(masks, maskRow, 1, new BigInt64Array(laneCount(A)))).toBe(4095);
  });

  test("hints are loaded one by one, nodes multiplied together, and some candidates decrypted", async () => {
    const { hints, masks } = await makeHints(lattice, job);
    const table = new BigUint64Array(lattice.tableSize(6));
    const size = 4096 * wordBytes(A);
    for (const c of [3, 0, 5, 1, 2, 4]) await lattice.loadHints(hints.subarray(c * size, (c + 1) * size), c, table);
    const seeds = Buffer.concat([seedFrom(99), job.seeds.node, seedFrom(98)]);
    const count = lattice.dotCount(6);
    const dots = new BigUint64Array(3 * count);
    await lattice.dots(table, 6, seeds, dots);
    const answer = await answerNode(lattice, job, masks, await sealNode(lattice, job, job.seeds.node));
    const positions = Uint32Array.of(1, 4);
    const words = Buffer.concat([...positions].map((c) => answer.subarray(c * 14, (c + 1) * 14)));
    const sums = new Float64Array(4);
    await lattice.open(dots.subarray(count, 2 * count), 6, words, positions, sums);
    const expected = plainSums(job);
    expect([...sums]).toEqual([2, 3, 8, 9].map((i) => expected[i]));
  });
});

test("bins have two bytes where a feature has more than 256", async () => {
  const bounds = jobBounds(A, { rowCount: 2, resolutionBits: 20 });
  const lattice = portableLatticeKernel.lattice(shapeOf(bounds), 1);
  const bins = [Uint16Array.of(1, 255), Uint16Array.of(256, 2)];
  expect([...(await lattice.rowBins(bins, Uint32Array.of(256, 257)))]).toEqual([1, 0, 0, 1, 255, 0, 2, 0]);
  const narrow = [Uint16Array.of(1, 255), Uint16Array.of(3, 2)];
  expect([...(await lattice.rowBins(narrow, Uint32Array.of(256, 4)))]).toEqual([1, 3, 255, 2]);
});
