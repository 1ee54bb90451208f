/** Attempts and nodes of the lattice scheme through one kernel, as both parties would: for tests of kernels. */
import type { BinChains, Lattice, LatticeKernel, LatticeShape } from "../../src/crypto/lattice/kernel.ts";
import { laneCount, type LatticeSet, wordBytes } from "../../src/crypto/lattice/parameters/sets.ts";

/** What does not change over nodes. */
export interface AttemptJob {
  readonly set: LatticeSet;
  readonly rowCount: number;
  readonly resolutionBits: number;
  readonly bins: readonly Uint16Array[];
  readonly chains: BinChains;
}

export interface NodeRun {
  readonly records: Uint8Array;
  readonly cells: BigUint64Array;
  readonly products: BigInt64Array;
  readonly answer: Uint8Array;
  readonly sums: Float64Array;
}

export const testSeed = (first: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? first : 0));

const crsKey = Uint8Array.from({ length: 16 }, (_, i) => i);

/** t and the slot's bits, as every party computes them from rows and resolution. */
export function shapeOf(set: LatticeSet, rowCount: number, resolutionBits: number): LatticeShape {
  const largest = BigInt(rowCount) << BigInt(resolutionBits);
  const slotBits = set.groups === 1 ? largest.toString(2).length : 0;
  const t = set.groups === 1 ? 1n << BigInt(2 * slotBits + 1) : 2n * largest + 1n;
  return { set, rowCount, t, slotBits, crsKey };
}

/** W: as wide as exact sums allow. */
export function smudgingWidth({ set, rowCount, t, slotBits }: LatticeShape): bigint {
  const q = set.primes.reduce((a, b) => a * b);
  const degree = BigInt(set.degree);
  const largest = 16n * (BigInt(rowCount) + 2n * degree);
  const words = 133n * (degree + 1n) * 2n ** BigInt(50 * set.primes.length - set.wordBits - 8);
  const rounding = words + (set.groups === 1 ? 2n << BigInt(slotBits) : t / 2n + 1n);
  const room = (q / t - 2n * largest - 2n * rounding) / 8n;
  return room < 1n << 76n ? room : 1n << 76n;
}

/** Chains from lists of steps: bin and target. */
export function chainsOf(binCounts: Uint32Array, chains: readonly (readonly [number, number][])[]): BinChains {
  const offsets = [0];
  for (const chain of chains) offsets.push(offsets[offsets.length - 1] + chain.length);
  return {
    binCounts,
    chainOffsets: Uint32Array.from(offsets),
    sources: Uint32Array.from(chains.flat(), ([source]) => source),
    targets: Int32Array.from(chains.flat(), ([, target]) => target),
  };
}

/** Candidates of ordered features: a prefix below the bin of the median, otherwise a suffix. */
export function cutChains(bins: readonly Uint16Array[], binCounts: Uint32Array): BinChains {
  const chains: [number, number][][] = [];
  let [firstBin, firstCandidate] = [0, 0];
  bins.forEach((column, feature) => {
    const last = binCounts[feature] - 1;
    const turn = Math.min(last, column.toSorted()[Math.ceil(column.length / 2) - 1]);
    const [prefix, suffix]: [number, number][][] = [[], []];
    for (let cut = 0; cut < turn; cut++) prefix.push([firstBin + cut, firstCandidate + cut]);
    for (let cut = last - 1; cut >= turn; cut--) suffix.push([firstBin + cut + 1, firstCandidate + cut]);
    chains.push(prefix, suffix);
    firstBin += last + 1;
    firstCandidate += last;
  });
  return chainsOf(binCounts, chains);
}

export const candidatesOf = ({ targets }: BinChains): number => targets.filter((target) => target >= 0).length;

/** Both parties of an attempt, after its hints. */
export class TestAttempt {
  readonly lattice: Lattice;
  readonly hints: Uint8Array;
  readonly masks: Uint8Array;
  readonly rowBins: Uint8Array;
  readonly table: BigUint64Array;
  readonly candidateCount: number;
  readonly #job: AttemptJob;

  private constructor(lattice: Lattice, job: AttemptJob, rowBins: Uint8Array) {
    this.lattice = lattice;
    this.#job = job;
    this.rowBins = rowBins;
    this.candidateCount = candidatesOf(job.chains);
    this.hints = new Uint8Array(this.candidateCount * job.set.degree * wordBytes(job.set));
    this.masks = new Uint8Array(lattice.maskBytes(this.candidateCount));
    this.table = new BigUint64Array(lattice.tableSize(this.candidateCount));
  }

  static async start(kernel: LatticeKernel, job: AttemptJob, threads = 1): Promise<TestAttempt> {
    const { set, bins, chains } = job;
    const lattice = kernel.lattice(shapeOf(set, job.rowCount, job.resolutionBits), threads);
    const attempt = new TestAttempt(lattice, job, await lattice.rowBins(bins, chains.binCounts));
    const { hints, masks, table, candidateCount } = attempt;
    await lattice.hints(bins, chains, testSeed(11), hints, masks);
    // In two parts, the later one first.
    const half = Math.floor(candidateCount / 2);
    const cut = (half * hints.length) / Math.max(candidateCount, 1);
    await lattice.loadHints(hints.subarray(cut), half, table);
    await lattice.loadHints(hints.subarray(0, cut), 0, table);
    return attempt;
  }

  /** @param columns g and h of every row @param noise per candidate what the passive party adds to g and h */
  async node(columns: readonly Int32Array[], noise: Float64Array | null = null): Promise<NodeRun> {
    const { lattice, candidateCount } = this;
    const { set, rowCount, chains } = this.#job;
    const dots = new BigUint64Array(lattice.dotCount(candidateCount));
    await lattice.dots(this.table, candidateCount, testSeed(12), dots);
    const records = new Uint8Array((set.degree + rowCount) * set.recordBytes);
    await lattice.seal(testSeed(12), columns, 0, set.degree + rowCount, records);

    const maskRecords = records.subarray(0, set.degree * set.recordBytes);
    const cells = this.emptyCells();
    await lattice.accumulate(this.rowBins, chains.binCounts, records.subarray(maskRecords.length), 0, cells);
    const products = new BigInt64Array(candidateCount * laneCount(set));
    await lattice.maskProducts(this.masks, maskRecords, candidateCount, products);
    const answer = new Uint8Array(candidateCount * set.groups * wordBytes(set));
    await lattice.answer(cells, chains, products, noise, smudgingWidth(lattice.shape), testSeed(13), answer);

    const sums = new Float64Array(2 * candidateCount);
    await lattice.open(dots, candidateCount, answer, null, sums);
    return { records, cells, products, answer, sums };
  }

  emptyCells(): BigUint64Array {
    return new BigUint64Array(this.lattice.cellCount(this.#job.chains.binCounts.reduce((a, b) => a + b, 0)));
  }
}

/** Per candidate the plain sums of g and h. */
export function plainSums({ bins, chains }: AttemptJob, columns: readonly Int32Array[]): Float64Array {
  const { binCounts, chainOffsets, sources, targets } = chains;
  const sums = new Float64Array(2 * candidatesOf(chains));
  const histogram = new Float64Array(2 * binCounts.reduce((a, b) => a + b, 0));
  let first = 0;
  bins.forEach((column, feature) => {
    for (let i = 0; i < column.length; i++)
      for (let y = 0; y < 2; y++) histogram[2 * (first + column[i]) + y] += columns[y][i];
    first += binCounts[feature];
  });
  for (let chain = 0; chain + 1 < chainOffsets.length; chain++) {
    const sum = [0, 0];
    for (let step = chainOffsets[chain]; step < chainOffsets[chain + 1]; step++) {
      for (let y = 0; y < 2; y++) sum[y] += histogram[2 * sources[step] + y];
      if (targets[step] >= 0) sums.set(sum, 2 * targets[step]);
    }
  }
  return sums;
}
