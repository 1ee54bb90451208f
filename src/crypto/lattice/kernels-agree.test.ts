/** All kernels of this machine give the same bytes, on any number of threads, and their sums equal plain sums. */
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import {
  type AttemptJob,
  candidatesOf,
  chainsOf,
  cutChains,
  plainSums,
  TestAttempt,
} from "../../../test/support/lattice-node.ts";
import type { BinChains } from "./kernel.ts";
import { loadNativeLattice } from "./native/native-kernel.ts";
import { type LatticeSet, latticeSets } from "./parameters/sets.ts";

const kernels = [...loadNativeLattice().kernels.values()];
if (kernels.length === 0) console.warn("native kernel not built: kernels are not compared");
const sets = Object.values(latticeSets);
const resolutionBits = 20;

function randomColumns(rowCount: number, random: SeededRandom): Int32Array[] {
  return [
    Int32Array.from({ length: rowCount }, () => random.below(2 ** 21 + 1) - 2 ** 20),
    Int32Array.from({ length: rowCount }, () => random.below(2 ** 20 + 1)),
  ];
}

const constantColumns = (rowCount: number, g: number, h: number): Int32Array[] => [
  new Int32Array(rowCount).fill(g),
  new Int32Array(rowCount).fill(h),
];

/**
 * A feature with a bin for missing values, each of its bins in two chains; one without rows in its first bins; one
 * whose rows are all in one bin; one with more than 256 bins. Targets are in a different order.
 */
function oddChains(): BinChains {
  const prefix: [number, number][] = [
    [0, 7],
    [1, 3],
  ];
  const suffix: [number, number][] = [
    [3, 0],
    [2, 9],
  ];
  const after = (first: number, steps: [number, number][]): [number, number][] => [
    [4, -1],
    ...steps.map(([bin], i) => [bin, first + i] as [number, number]),
  ];
  return chainsOf(Uint32Array.of(5, 3, 2, 300), [
    prefix,
    after(1, prefix),
    suffix,
    after(4, suffix),
    [],
    [
      [5, 6],
      [6, 8],
      [7, 10],
    ],
    [[8, 11]],
    [
      [10, 12],
      [309, 13],
    ],
  ]);
}

function oddJob(set: LatticeSet, rowCount: number, random: SeededRandom): AttemptJob {
  const column = (draw: (i: number) => number): Uint16Array =>
    Uint16Array.from({ length: rowCount }, (_, i) => draw(i));
  const bins = [column(() => random.below(5)), column(() => 2), column(() => 0), column(() => random.below(300))];
  return { set, rowCount, resolutionBits, bins, chains: oddChains() };
}

describe.each(sets)("set $name", (set) => {
  const { degree } = set;

  it.each([1, 2, degree - 1, degree, degree + 1])("all kernels agree with %i rows", async (rowCount) => {
    const random = new SeededRandom(`agree:${rowCount}`);
    const job = oddJob(set, rowCount, random);
    const nodes = [
      randomColumns(rowCount, random),
      constantColumns(rowCount, -(2 ** resolutionBits), 2 ** resolutionBits),
      constantColumns(rowCount, 2 ** resolutionBits, 2 ** resolutionBits),
    ];
    const attempts = await Promise.all(kernels.map((kernel) => TestAttempt.start(kernel, job)));
    for (const attempt of attempts.slice(1)) {
      expect(Buffer.compare(attempt.hints, attempts[0].hints)).toBe(0);
      expect(Buffer.compare(attempt.masks, attempts[0].masks)).toBe(0);
    }
    for (const columns of nodes) {
      const runs = await Promise.all(attempts.map((attempt) => attempt.node(columns)));
      for (const run of runs) expect(run.sums).toEqual(plainSums(job, columns));
      for (const run of runs.slice(1)) {
        expect(Buffer.compare(run.records, runs[0].records)).toBe(0);
        expect(Buffer.compare(run.answer, runs[0].answer)).toBe(0);
        expect(run.cells).toEqual(runs[0].cells);
        expect(run.products).toEqual(runs[0].products);
      }
    }
    // Half of the range: sums with noise stay within the layout.
    const small = nodes[0].map((column) => column.map((value) => value >> 1));
    const noise = Float64Array.from({ length: 2 * candidatesOf(job.chains) }, (_, i) => (i % 5) * (i % 2 ? 1000 : -77));
    const noisy = await Promise.all(attempts.map((attempt) => attempt.node(small, noise)));
    for (const run of noisy) {
      expect(run.sums).toEqual(plainSums(job, small).map((sum, i) => sum + noise[i]));
      expect(Buffer.compare(run.answer, noisy[0].answer)).toBe(0);
    }
  });

  it.runIf(kernels.length > 0)("threads and the order of chains make no difference", async () => {
    const random = new SeededRandom("threads");
    const job = oddJob(set, 2 * degree + 5, random);
    const columns = randomColumns(job.rowCount, random);
    const alone = await TestAttempt.start(kernels[0], job);
    const expected = await alone.node(columns);
    const { chainOffsets, sources, targets } = job.chains;
    const backwards = chainsOf(
      job.chains.binCounts,
      Array.from({ length: chainOffsets.length - 1 }, (_, chain) => {
        const steps = Array.from(sources, (source, i) => [source, targets[i]] as [number, number]);
        return steps.slice(chainOffsets[chain], chainOffsets[chain + 1]);
      }).reverse(),
    );
    for (const kernel of kernels) {
      const attempt = await TestAttempt.start(kernel, { ...job, chains: backwards }, 3);
      const run = await attempt.node(columns);
      expect(Buffer.compare(attempt.hints, alone.hints)).toBe(0);
      expect(Buffer.compare(attempt.masks, alone.masks)).toBe(0);
      expect(Buffer.compare(run.records, expected.records)).toBe(0);
      expect(run.cells).toEqual(expected.cells);
      expect(Buffer.compare(run.answer, expected.answer)).toBe(0);
      expect(run.sums).toEqual(expected.sums);
    }
  });
});

it.runIf(kernels.length > 0)("a million rows give exact sums", async () => {
  const rowCount = 2 ** 20;
  const random = new SeededRandom("million");
  const bins = [Uint16Array.from({ length: rowCount }, () => random.below(3))];
  const chains = cutChains(bins, Uint32Array.of(3));
  const job = { set: latticeSets.B, rowCount, resolutionBits, bins, chains };
  const attempt = await TestAttempt.start(kernels[0], job, 2);
  for (const columns of [randomColumns(rowCount, random), constantColumns(rowCount, -(2 ** 20), 2 ** 20)])
    expect((await attempt.node(columns)).sums).toEqual(plainSums(job, columns));
});
