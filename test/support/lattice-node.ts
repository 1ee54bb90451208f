/** One node through a kernel, as both parties would: for tests of kernels. */
import type { BinChains, Lattice, LatticeKernel, LatticeShape } from "../../src/crypto/lattice/kernel.ts";
import { laneCount, type LatticeSet, wordBytes } from "../../src/crypto/lattice/sets.ts";

export interface NodeJob {
  readonly set: LatticeSet;
  readonly resolutionBits: number;
  readonly bins: readonly Uint16Array[];
  readonly chains: BinChains;
  readonly candidateCount: number;
  /** g and h of every row. */
  readonly columns: readonly Int32Array[];
  readonly noise: Float64Array | null;
}

export interface NodeRun {
  readonly hints: Uint8Array;
  readonly masks: Uint8Array;
  readonly records: Uint8Array;
  readonly cells: BigUint64Array;
  readonly products: BigInt64Array;
  readonly answer: Uint8Array;
  readonly sums: Float64Array;
}

export const testSeed = (first: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? first : 0));

export const crsKey = Uint8Array.from({ length: 16 }, (_, i) => i);

/** t and the slot's bits, as everybody computes them from rows and resolution. */
export function shapeOf(set: LatticeSet, rowCount: number, resolutionBits: number): LatticeShape {
  const largest = BigInt(rowCount) << BigInt(resolutionBits);
  const slotBits = set.groups === 1 ? largest.toString(2).length : 0;
  const t = set.groups === 1 ? 1n << BigInt(2 * slotBits + 1) : 2n * largest + 1n;
  return { set, rowCount, t, slotBits, crsKey };
}

/** W: as wide as exact sums allow. */
export function floodWidth({ set, rowCount, t, slotBits }: LatticeShape): bigint {
  const q = set.primes.reduce((a, b) => a * b);
  const degree = BigInt(set.degree);
  const largest = 16n * (BigInt(rowCount) + 2n * degree);
  const words = 133n * (degree + 1n) * 2n ** BigInt(50 * set.primes.length - set.wordBits - 8);
  const rounding = words + (set.groups === 1 ? 2n << BigInt(slotBits) : t / 2n + 1n);
  const room = (q / t - 2n * largest - 2n * rounding) / 8n;
  return room < 1n << 76n ? room : 1n << 76n;
}

/** Candidates of ordered features: a prefix below the bin of the median, otherwise a suffix. */
export function cutChains(bins: readonly Uint16Array[], binCounts: Uint32Array): BinChains {
  const [offsets, sources, targets]: number[][] = [[0], [], []];
  let [firstBin, firstCandidate] = [0, 0];
  bins.forEach((column, feature) => {
    const last = binCounts[feature] - 1;
    const turn = Math.min(last, [...column].sort((a, b) => a - b)[Math.ceil(column.length / 2) - 1]);
    const step = (bin: number, cut: number): void => {
      sources.push(firstBin + bin);
      targets.push(firstCandidate + cut);
    };
    for (let cut = 0; cut < turn; cut++) step(cut, cut);
    offsets.push(sources.length);
    for (let cut = last - 1; cut >= turn; cut--) step(cut + 1, cut);
    offsets.push(sources.length);
    firstBin += last + 1;
    firstCandidate += last;
  });
  return {
    binCounts,
    chainOffsets: Uint32Array.from(offsets),
    sources: Uint32Array.from(sources),
    targets: Int32Array.from(targets),
  };
}

/** Hints, a node, its answer and its sums. */
export async function runNode(kernel: LatticeKernel, job: NodeJob, threads = 1): Promise<NodeRun> {
  const { set, bins, chains, candidateCount } = job;
  const shape = shapeOf(set, job.columns[0].length, job.resolutionBits);
  const lattice = kernel.lattice(shape, threads);
  const hints = new Uint8Array(candidateCount * set.degree * wordBytes(set));
  const masks = new Uint8Array(lattice.maskBytes(candidateCount));
  await lattice.hints(bins, chains, testSeed(11), hints, masks);

  const table = new BigUint64Array(lattice.tableSize(candidateCount));
  const half = Math.floor(candidateCount / 2);
  const cut = half * set.degree * wordBytes(set);
  await lattice.loadHints(hints.subarray(cut), half, table);
  await lattice.loadHints(hints.subarray(0, cut), 0, table);
  const dots = new BigUint64Array(lattice.dotCount(candidateCount));
  await lattice.dots(table, candidateCount, testSeed(12), dots);

  const records = await sealAll(lattice, job.columns);
  const rowBins = await lattice.rowBins(bins, chains.binCounts);
  const cells = new BigUint64Array(lattice.cellCount(chains.binCounts.reduce((a, b) => a + b, 0)));
  const maskRecords = records.subarray(0, set.degree * set.recordBytes);
  const rowRecords = records.subarray(maskRecords.length);
  await lattice.accumulate(rowBins, chains.binCounts, rowRecords, 0, cells);
  const products = new BigInt64Array(candidateCount * laneCount(set));
  await lattice.maskProducts(masks, maskRecords, candidateCount, products);
  const answer = new Uint8Array(candidateCount * set.groups * wordBytes(set));
  await lattice.answer(cells, chains, products, job.noise, floodWidth(shape), testSeed(13), answer);
  const sums = new Float64Array(2 * candidateCount);
  await lattice.open(dots, candidateCount, answer, null, sums);
  return { hints, masks, records, cells, products, answer, sums };
}

async function sealAll(lattice: Lattice, columns: readonly Int32Array[]): Promise<Uint8Array> {
  const { set, rowCount } = lattice.shape;
  const records = new Uint8Array((set.degree + rowCount) * set.recordBytes);
  await lattice.seal(testSeed(12), columns, 0, set.degree + rowCount, records);
  return records;
}

/** Per candidate the plain sums of g and h. */
export function plainSums(job: NodeJob): Float64Array {
  const sums = new Float64Array(2 * job.candidateCount);
  const { binCounts, chainOffsets, sources, targets } = job.chains;
  const histogram = new Float64Array(2 * binCounts.reduce((a, b) => a + b, 0));
  let first = 0;
  job.bins.forEach((column, feature) => {
    column.forEach((bin, i) => job.columns.forEach((values, y) => (histogram[2 * (first + bin) + y] += values[i])));
    first += binCounts[feature];
  });
  for (let chain = 0; chain + 1 < chainOffsets.length; chain++) {
    const sum = [0, 0];
    for (let step = chainOffsets[chain]; step < chainOffsets[chain + 1]; step++) {
      for (const y of [0, 1]) sum[y] += histogram[2 * sources[step] + y];
      if (targets[step] >= 0) sums.set(sum, 2 * targets[step]);
    }
  }
  return sums.map((sum, i) => sum + (job.noise?.[i] ?? 0));
}
