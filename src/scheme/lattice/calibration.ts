/** How long the lattice scheme's operations take on this machine. */
import { TandemError } from "../../base/error.ts";
import { jobBounds, shapeOf } from "../../crypto/lattice/parameters/job-bounds.ts";
import type { BinChains, Lattice, LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { laneCount, type LatticeSet, latticeSets, wordBytes } from "../../crypto/lattice/parameters/sets.ts";
import { seedBytes } from "../../crypto/lattice/portable/streams.ts";

/** CPU seconds per operation. */
export interface LatticeCosts {
  /** One row of a node, or of its mask. */
  readonly seal: number;
  /** One row and feature. */
  readonly histogram: number;
  /** Each for one candidate of a node. */
  readonly mask: number;
  readonly answer: number;
  readonly dots: number;
  /** The hint of one candidate: per block of rows, and once. */
  readonly block: number;
  readonly emit: number;
}

/** Nanoseconds per operation in each set on one machine: set A is measured, set B follows by ratio. */
const usual: Readonly<Record<"A" | "B", LatticeCosts>> = {
  A: { seal: 18, histogram: 0.6, mask: 390, answer: 105, dots: 285, block: 21_000, emit: 95_000 },
  B: { seal: 16, histogram: 0.61, mask: 780, answer: 75, dots: 850, block: 80_000, emit: 330_000 },
};

/** Scales costs measured in set A to another set. */
export function inSet(measured: LatticeCosts, { name }: LatticeSet): LatticeCosts {
  const scaled = Object.entries(measured).map(([operation, seconds]) => {
    const of = operation as keyof LatticeCosts;
    return [operation, (seconds * usual[name][of]) / usual.A[of]];
  });
  return Object.fromEntries(scaled) as unknown as LatticeCosts;
}

/** Features of 16 bins, with a candidate at each cut between them. */
const binCount = 16;

/** @returns the costs in set A, measured with one thread */
export async function calibrate(kernel: LatticeKernel): Promise<LatticeCosts> {
  // The portable kernel is a few hundred times slower, so its samples are smaller.
  const isSlow = kernel.name === "portable";
  const bench = new Bench(kernel, isSlow ? { blocks: 1, features: 1 } : { blocks: 4, features: 8 });
  return bench.measure(isSlow ? 1 : 3, isSlow ? 1 : 16);
}

class Bench {
  readonly #lattice: Lattice;
  readonly #smudgingWidth: bigint;
  readonly #bins: readonly Uint16Array[];
  readonly #chains: BinChains;
  readonly #candidates: number;
  readonly #blocks: number;

  constructor(kernel: LatticeKernel, { blocks, features }: { readonly blocks: number; readonly features: number }) {
    const set = latticeSets.A;
    const rowCount = blocks * set.degree;
    const bounds = jobBounds(set, { rowCount, resolutionBits: 20 });
    this.#lattice = kernel.lattice(shapeOf(bounds, new Uint8Array(16)), 1);
    this.#smudgingWidth = bounds.smudgingWidth;
    this.#blocks = blocks;
    this.#candidates = features * (binCount - 1);
    this.#bins = Array.from({ length: features }, (_, f) =>
      Uint16Array.from({ length: rowCount }, (_row, i) => (i * (2 * f + 3)) % binCount),
    );
    this.#chains = prefixChains(features);
  }

  /** @param nodes whose inner products are computed together */
  async measure(repeats: number, nodes: number): Promise<LatticeCosts> {
    const lattice = this.#lattice;
    const { set, rowCount } = lattice.shape;
    const count = this.#candidates;
    const seed = new Uint8Array(seedBytes).fill(1);
    const words = new Uint8Array(count * set.degree * wordBytes(set));
    const masks = new Uint8Array(lattice.maskBytes(count));
    const hints = await best(1, () => lattice.hints(this.#bins, this.#chains, seed, words, masks));
    const table = new BigUint64Array(lattice.tableSize(count));
    await lattice.loadHints(words, 0, table);
    const seeds = Uint8Array.from({ length: nodes * seedBytes }, (_, i) => i % 251);
    const dots = new BigUint64Array(nodes * lattice.dotCount(count));
    const column = Int32Array.from({ length: rowCount }, (_, i) => i % 1000);
    const recordCount = set.degree + rowCount;
    const records = new Uint8Array(recordCount * set.recordBytes);
    const seal = await best(repeats, () => lattice.seal(seed, [column, column], 0, recordCount, records));
    const maskRow = records.subarray(0, set.degree * set.recordBytes);
    const products = new BigInt64Array(count * laneCount(set));
    const rowBins = await lattice.rowBins(this.#bins, this.#chains.binCounts);
    const cells = new BigUint64Array(lattice.cellCount(this.#bins.length * binCount));
    const rows = records.subarray(maskRow.length);
    const answer = new Uint8Array(count * set.groups * wordBytes(set));
    const { block, emit } = usual.A;
    const perHint = hints / count / (this.#blocks * block + emit);
    return {
      seal: seal / recordCount,
      histogram:
        (await best(repeats, () => taken(lattice.accumulate(rowBins, this.#chains.binCounts, rows, 0, cells)))) /
        (rowCount * this.#bins.length),
      mask: (await best(repeats, () => taken(lattice.maskProducts(masks, maskRow, count, products)))) / count,
      answer:
        (await best(repeats, () =>
          lattice.answer(cells, this.#chains, products, null, this.#smudgingWidth, seed, answer),
        )) / count,
      dots: (await best(repeats, () => lattice.dots(table, count, seeds, dots))) / (nodes * count),
      block: perHint * block,
      emit: perHint * emit,
    };
  }
}

/** Per feature one chain, with a candidate after each bin but the last. */
function prefixChains(features: number): BinChains {
  const steps = binCount - 1;
  return {
    binCounts: new Uint32Array(features).fill(binCount),
    chainOffsets: Uint32Array.from({ length: features + 1 }, (_, f) => f * steps),
    sources: Uint32Array.from({ length: features * steps }, (_, i) => Math.floor(i / steps) * binCount + (i % steps)),
    targets: Int32Array.from({ length: features * steps }, (_, i) => i),
  };
}

async function taken(refused: Promise<number>): Promise<void> {
  if ((await refused) >= 0) throw new TandemError("INTERNAL", "a kernel rejects its own records");
}

/** The fastest of several runs, in CPU seconds. */
async function best(repeats: number, run: () => Promise<void>): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < repeats; i++) {
    const start = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1e6);
  }
  return least;
}
