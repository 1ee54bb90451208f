/** Every key stream (seed, domain, sub, block) of a job is used for one purpose only. */
import type * as nodeCrypto from "node:crypto";
import { expect, test, vi } from "vitest";
import { knownJob } from "../../../test/support/lattice-job.ts";
import { HintSecrets } from "./hint-secrets.ts";
import { HeldRowSums } from "./row-sums.ts";
import { EncryptedNode } from "./encrypted-node.ts";
import { InnerProducts } from "./inner-products.ts";
import { portableLatticeKernel } from "./portable/portable-lattice.ts";
import { latticeSets } from "./parameters/sets.ts";
import { domains } from "./portable/streams.ts";

const drawn = vi.hoisted((): { seed: string; domain: number; sub: number; block: number }[] => []);

vi.mock("node:crypto", async (importOriginal) => {
  const original = await importOriginal<typeof nodeCrypto>();
  const createCipheriv = (name: string, key: Uint8Array, start: Buffer): unknown => {
    const seed = Buffer.from(key).toString("hex");
    drawn.push({ seed, domain: start[0], sub: start[1], block: start.readUInt32BE(4) });
    return original.createCipheriv(name, key, start);
  };
  return { ...original, createCipheriv };
});

test("streams of a job with two nodes and 300 candidates are all distinct", async () => {
  const set = latticeSets.A;
  const known = knownJob(set);
  const candidateCount = 300;
  // Four of them have rows, enough to attribute the streams.
  const chains = {
    binCounts: known.chains.binCounts,
    chainOffsets: Uint32Array.of(0, 1, 2, 3, 4),
    sources: Uint32Array.of(0, 1, 4, 5),
    targets: Int32Array.of(0, 1, 2, 299),
  };
  const lattice = portableLatticeKernel.lattice(known.shape, 1);
  const secrets = new HintSecrets(lattice, known.bounds, new Uint8Array(32).fill(1));
  await secrets.make(known.bins, chains, candidateCount);
  const table = new BigUint64Array(lattice.tableSize(candidateCount));
  const products = new InnerProducts(lattice, [{ candidateCount, table }]);
  for (const node of [0, 1]) {
    const place = { tree: 0, node, output: 0 };
    const encrypted = new EncryptedNode(lattice, products, new Uint8Array(32).fill(2), place, known.columns);
    const rowBins = await lattice.rowBins(known.bins, chains.binCounts);
    const sums = secrets.beginNode(new HeldRowSums(lattice, rowBins, chains.binCounts));
    for await (const { firstRecord, records } of encrypted.chunks()) await sums.add(firstRecord, records);
    await sums.answer(null, place, new Uint8Array(32).fill(node));
  }
  const countOf = (domain: keyof typeof domains): number[] => {
    const own = drawn.filter((stream) => stream.domain === domains[domain]);
    return [own.length, new Set(own.map((stream) => JSON.stringify(stream))).size];
  };
  // Two nodes, two groups, two blocks; the smudging noise of 300 candidates takes two streams; four candidates have
  // hints.
  expect(countOf("error")).toEqual([8, 8]);
  expect(countOf("maskError")).toEqual([4, 4]);
  expect(countOf("hintSecret")).toEqual([4, 4]);
  expect(countOf("hintError")).toEqual([4, 4]);
  expect(countOf("smudging")).toEqual([4, 4]);
  expect(countOf("row")).toEqual([4, 4]);
  expect(countOf("maskRow")).toEqual([2, 2]);
  // A node's secret is drawn for its inner products and again to encrypt: the same one both times.
  expect(countOf("secret")).toEqual([8, 4]);
  // One seed belongs to one node, one set of hints or one answer.
  const usesOf = (names: readonly (keyof typeof domains)[]): Set<string> =>
    new Set(drawn.filter(({ domain }) => names.some((name) => domains[name] === domain)).map(({ seed }) => seed));
  const seeds = [usesOf(["secret", "error", "maskError"]), usesOf(["hintSecret", "hintError"]), usesOf(["smudging"])];
  expect(seeds.map(({ size }) => size)).toEqual([2, 1, 2]);
  expect(new Set(seeds.flatMap((group) => [...group])).size).toBe(5);
});
