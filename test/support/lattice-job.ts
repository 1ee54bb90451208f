/** One node of a lattice job through a kernel, with seeds that are given: what known answers and kernels are about. */
import { createHash } from "node:crypto";
import { jobBounds, type JobBounds, shapeOf as shapeWithKey } from "../../src/crypto/lattice/parameters/job-bounds.ts";
import type { BinChains, Lattice, LatticeKernel, LatticeShape } from "../../src/crypto/lattice/kernel.ts";
import { laneCount, type LatticeSet, wordBytes } from "../../src/crypto/lattice/parameters/sets.ts";

export interface LatticeJob {
  readonly shape: LatticeShape;
  readonly bounds: JobBounds;
  readonly bins: readonly Uint16Array[];
  readonly chains: BinChains;
  readonly candidateCount: number;
  /** g and h of every row. */
  readonly columns: readonly Int32Array[];
  readonly seeds: { readonly hints: Uint8Array; readonly node: Uint8Array; readonly smudging: Uint8Array };
}

export const seedFrom = (first: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? first : 0));

/** The job of the known answers: N + 4 rows, two features of four bins, six cuts; a third of the rows outside. */
export function knownJob(set: LatticeSet, rowCount = set.degree + 4): LatticeJob {
  const rows = Array.from({ length: rowCount }, (_, i) => i);
  const bins = [
    Uint16Array.from(rows, (i) => (7 * i + Math.floor(i / 5)) % 4),
    Uint16Array.from(rows, (i) => (i * i + Math.floor(i / 7)) % 4),
  ];
  const columns = [
    Int32Array.from(rows, (i) => (i % 3 === 0 ? 0 : ((7919 * i) % 2_097_153) - 1_048_576)),
    Int32Array.from(rows, (i) => (i % 3 === 0 ? 0 : (104_729 * i) % 1_048_577)),
  ];
  // Bin 1 holds both medians: cut 0 is summed from the left, cuts 1 and 2 from the right.
  const chains = {
    binCounts: Uint32Array.of(4, 4),
    chainOffsets: Uint32Array.of(0, 1, 3, 4, 6),
    sources: Uint32Array.of(0, 3, 2, 4, 7, 6),
    targets: Int32Array.of(0, 2, 1, 3, 5, 4),
  };
  const bounds = jobBounds(set, { rowCount, resolutionBits: 20 });
  const seeds = { hints: seedFrom(11), node: seedFrom(12), smudging: seedFrom(13) };
  return { shape: shapeOf(bounds), bounds, bins, chains, candidateCount: 6, columns, seeds };
}

export const shapeOf = (bounds: JobBounds): LatticeShape =>
  shapeWithKey(
    bounds,
    Uint8Array.from({ length: 16 }, (_, i) => i),
  );

export interface LatticeOutcome {
  readonly hints: Uint8Array;
  readonly node: Uint8Array;
  readonly answer: Uint8Array;
  /** g and h, candidate by candidate. */
  readonly sums: Float64Array;
}

export interface PassiveSide {
  readonly hints: Uint8Array;
  readonly masks: Uint8Array;
}

export async function makeHints(lattice: Lattice, job: LatticeJob): Promise<PassiveSide> {
  const { set } = lattice.shape;
  const hints = new Uint8Array(job.candidateCount * set.degree * wordBytes(set));
  const masks = new Uint8Array(lattice.maskBytes(job.candidateCount));
  await lattice.hints(job.bins, job.chains, job.seeds.hints, hints, masks);
  return { hints, masks };
}

export async function sealNode(lattice: Lattice, job: LatticeJob, seed: Uint8Array): Promise<Uint8Array> {
  const { set, rowCount } = lattice.shape;
  const count = set.degree + rowCount;
  const node = new Uint8Array(count * set.recordBytes);
  await lattice.seal(seed, job.columns, 0, count, node);
  return node;
}

/** @throws where a record is refused */
export async function answerNode(
  lattice: Lattice,
  job: LatticeJob,
  masks: Uint8Array,
  node: Uint8Array,
  { smudgingWidth = job.bounds.smudgingWidth, noise = null as Float64Array | null } = {},
): Promise<Uint8Array> {
  const { set } = lattice.shape;
  const { binCounts } = job.chains;
  const cells = new BigUint64Array(lattice.cellCount(binCounts.reduce((a, b) => a + b, 0)));
  const products = new BigInt64Array(job.candidateCount * laneCount(set));
  const maskEnd = set.degree * set.recordBytes;
  const rowBins = await lattice.rowBins(job.bins, binCounts);
  const refused = [
    await lattice.maskProducts(masks, node.subarray(0, maskEnd), job.candidateCount, products),
    await lattice.accumulate(rowBins, binCounts, node.subarray(maskEnd), 0, cells),
  ];
  if (refused.some((index) => index >= 0)) throw new Error(`refused ${refused.join(" ")}`);
  const words = new Uint8Array(job.candidateCount * set.groups * wordBytes(set));
  await lattice.answer(cells, job.chains, products, noise, smudgingWidth, job.seeds.smudging, words);
  return words;
}

export async function openAnswer(
  lattice: Lattice,
  job: LatticeJob,
  hints: Uint8Array,
  seed: Uint8Array,
  answer: Uint8Array,
): Promise<Float64Array> {
  const table = new BigUint64Array(lattice.tableSize(job.candidateCount));
  await lattice.loadHints(hints, 0, table);
  const dots = new BigUint64Array(lattice.dotCount(job.candidateCount));
  await lattice.dots(table, job.candidateCount, seed, dots);
  const sums = new Float64Array(2 * job.candidateCount);
  await lattice.open(dots, job.candidateCount, answer, null, sums);
  return sums;
}

export async function runNode(kernel: LatticeKernel, job: LatticeJob): Promise<LatticeOutcome> {
  const lattice = kernel.lattice(job.shape, 1);
  const { hints, masks } = await makeHints(lattice, job);
  const node = await sealNode(lattice, job, job.seeds.node);
  const answer = await answerNode(lattice, job, masks, node);
  return { hints, node, answer, sums: await openAnswer(lattice, job, hints, job.seeds.node, answer) };
}

/** Which rows a candidate sums, by its chain. */
export function rowsOfCandidates({ bins, chains, candidateCount }: LatticeJob): boolean[][] {
  const firsts = [...chains.binCounts].map((_, f) => chains.binCounts.slice(0, f).reduce((a, b) => a + b, 0));
  const members = Array.from({ length: candidateCount }, () => bins[0] && Array.from(bins[0], () => false));
  for (let chain = 0; chain + 1 < chains.chainOffsets.length; chain++) {
    const summed = new Set<number>();
    for (let step = chains.chainOffsets[chain]; step < chains.chainOffsets[chain + 1]; step++) {
      summed.add(chains.sources[step]);
      if (chains.targets[step] < 0) continue;
      const feature = firsts.findLastIndex((first) => first <= chains.sources[step]);
      members[chains.targets[step]] = Array.from(bins[feature], (bin) => summed.has(firsts[feature] + bin));
    }
  }
  return members;
}

/** The sums by plain addition. */
export function plainSums(job: LatticeJob): Float64Array {
  const sums = rowsOfCandidates(job).flatMap((members) =>
    job.columns.map((column) => column.reduce((sum, value, row) => sum + (members[row] ? value : 0), 0)),
  );
  return Float64Array.from(sums);
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Digests of hints, node and answer, and the first sums. */
export const knownAnswers = {
  A: {
    hints: "908eb9ab9378eb04a062598243371e0ebf42c45341230ef9be8b7b7d59d60634",
    node: "61c781c17d8c35eea0f2e232bb35cbeeecd50967105a0dcd9bded43437e43766",
    answer: "97150e334870e9f5972e06c5121498189ad37c063c6c94a6a9798afe2f438f26",
    sums: [-25_425_227, 574_379_740, -15_801_755, 571_967_594],
  },
  B: {
    hints: "e2690a4f4328e76927184d5ccc826213d53ad08d24afbe0584cdea1a4febb8ae",
    node: "7cb8dbd2b501bf0ca53c8aa91b45c4a3c9a513e9b8452f24bad794260e3cf91c",
    answer: "a409f6e1b7db6f7302582c57288dc67d2e25149a952419916d0adf345e078847",
    sums: [-3_579_647, 1_149_014_568, -5_180_777, 1_143_776_836],
  },
} as const;
