/** Calls of the addon's lattice functions that all succeed: four rows, two features, two candidates. */
type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
type Call = readonly [name: string, ...values: unknown[]];

const degree = 4096;
const recordBytes = 25;
const wordBytes = 7;

/** @param kernel by default the best of this processor */
export function latticeCalls(addon: Functions, kernel = (addon["latticeKernels"]() as string[])[0]): Call[] {
  const t = new Uint8Array(16);
  t[0] = 129; // 2 n 2^r + 1 for 4 rows and 4 bits
  const create: Call = ["createLattice", kernel, "A", 4, t, 0, new Uint8Array(16)];
  const context = addon["createLattice"](...create.slice(1));
  const seed = new Uint8Array(32).fill(5);
  const bins = [Uint16Array.of(0, 1, 2, 0), Uint16Array.of(1, 1, 0, 0)];
  const binCounts = Uint32Array.of(3, 2);
  const chains = [Uint32Array.of(0, 2, 3), Uint32Array.of(0, 1, 3), Int32Array.of(-1, 0, 1)];
  const columns = [Int32Array.of(1, -2, 3, 4), Int32Array.of(4, 3, 2, 1)];
  const candidates = 2;
  const words = new Uint8Array(candidates * degree * wordBytes);
  const masks = new Uint8Array((candidates * degree) / 4).fill(40);
  const products = new BigInt64Array(candidates * 4);
  const cells = new BigUint64Array(5 * 4);
  const table = new BigUint64Array(degree * 8);
  const dots = new BigUint64Array(2 * candidates);
  const answer = new Uint8Array(2 * candidates * wordBytes);
  const width = new Uint8Array(16);
  width[3] = 1;
  return [
    ["latticeKernels"],
    create,
    ["latticeRowBins", context, bins, binCounts, new Uint8Array(8), 2],
    ["latticeHints", context, bins, binCounts, ...chains, seed, words, masks, 2],
    ["latticeAccumulate", context, new Uint8Array(8), binCounts, new Uint8Array(2 * recordBytes), 1, cells, 2],
    ["latticeMaskProducts", context, masks, new Uint8Array(degree * recordBytes), candidates, products, 2],
    ["latticeAnswer", context, cells, ...chains, products, new Float64Array(4), width, seed, answer, 2],
    ["latticeAnswer", context, cells, ...chains, products, null, width, seed, answer, 2],
    ["latticeLoadHints", context, words, 0, table, 2],
    ["latticeDots", context, table, candidates, seed, dots, 2],
    ["latticeSeal", context, seed, columns, degree, new Uint8Array(4 * recordBytes), 2],
    ["latticeOpen", context, dots, candidates, answer, null, new Float64Array(4)],
    ["latticeOpen", context, dots, candidates, answer, Uint32Array.of(1, 0), new Float64Array(4)],
  ];
}
