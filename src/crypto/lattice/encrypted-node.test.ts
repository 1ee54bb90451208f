import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { knownJob, type LatticeJob, plainSums } from "../../../test/support/lattice-job.ts";
import { HintSecrets } from "./hint-secrets.ts";
import type { Lattice } from "./kernel.ts";
import { EncryptedNode, type RecordChunk } from "./encrypted-node.ts";
import { InnerProducts, type PartyHints } from "./inner-products.ts";
import { hintSeed, jobNonce, nodeSeed, smudgingSeed } from "./job-seeds.ts";
import { portableLatticeKernel } from "./portable/portable-lattice.ts";
import { HeldRowSums } from "./row-sums.ts";
import { latticeSets } from "./parameters/sets.ts";

const { A, B } = latticeSets;
const rowCount = 40;

/** The arguments of the kernel's calls. */
interface Seen {
  readonly seeds: Uint8Array[];
  readonly seedsAsSeen: string[];
  readonly dots: BigUint64Array[];
  readonly batches: number[];
}

function watched(job: LatticeJob): { lattice: Lattice; seen: Seen } {
  const inner = portableLatticeKernel.lattice(job.shape, 1);
  const seen: Seen = { seeds: [], seedsAsSeen: [], dots: [], batches: [] };
  const note = (seeds: Uint8Array): void => {
    seen.seeds.push(seeds);
    for (let at = 0; at < seeds.length; at += 32)
      seen.seedsAsSeen.push(Buffer.from(seeds.subarray(at, at + 32)).toString("hex"));
  };
  const lattice = Object.create(inner) as Lattice;
  const bound = <K extends "tableSize" | "dotCount" | "maskBytes" | "cellCount">(name: K) => inner[name].bind(inner);
  return {
    seen,
    lattice: Object.assign(lattice, {
      shape: inner.shape,
      tableSize: bound("tableSize"),
      dotCount: bound("dotCount"),
      maskBytes: bound("maskBytes"),
      cellCount: bound("cellCount"),
      rowBins: inner.rowBins.bind(inner),
      accumulate: inner.accumulate.bind(inner),
      maskProducts: inner.maskProducts.bind(inner),
      loadHints: inner.loadHints.bind(inner),
      open: inner.open.bind(inner),
      hints: (...call: Parameters<Lattice["hints"]>) => (note(call[2]), inner.hints(...call)),
      answer: (...call: Parameters<Lattice["answer"]>) => (note(call[5]), inner.answer(...call)),
      seal: (...call: Parameters<Lattice["seal"]>) => (note(call[0]), inner.seal(...call)),
      dots: (...call: Parameters<Lattice["dots"]>) => {
        note(call[2]);
        seen.dots.push(call[3]);
        seen.batches.push(call[2].length / 32);
        return inner.dots(...call);
      },
    }),
  };
}

const jobSeed = new Uint8Array(32).fill(5);
const root = { tree: 0, node: 0, output: 0 };
const request = new Uint8Array(32).fill(8);

async function hintsOf(
  lattice: Lattice,
  job: LatticeJob,
  seed = jobSeed,
): Promise<{ secrets: HintSecrets; party: PartyHints; words: Uint8Array }> {
  const secrets = new HintSecrets(lattice, job.bounds, seed);
  const words = await secrets.make(job.bins, job.chains, job.candidateCount);
  const table = new BigUint64Array(lattice.tableSize(job.candidateCount));
  await lattice.loadHints(words, 0, table);
  return { secrets, party: { candidateCount: job.candidateCount, table }, words };
}

function encrypted(lattice: Lattice, parties: readonly PartyHints[], job: LatticeJob, place = root): EncryptedNode {
  return new EncryptedNode(lattice, new InnerProducts(lattice, parties), jobSeed, place, job.columns);
}

async function chunksOf(node: EncryptedNode, chunkBytes?: number): Promise<RecordChunk[]> {
  const chunks: RecordChunk[] = [];
  for await (const chunk of node.chunks(chunkBytes)) chunks.push(chunk);
  return chunks;
}

const recordsOf = (chunks: readonly RecordChunk[]): Buffer => Buffer.concat(chunks.map(({ records }) => records));

async function rowsOf(lattice: Lattice, { bins, chains }: LatticeJob): Promise<HeldRowSums> {
  return new HeldRowSums(lattice, await lattice.rowBins(bins, chains.binCounts), chains.binCounts);
}

async function answerOf(
  secrets: HintSecrets,
  chunks: readonly RecordChunk[],
  rows: HeldRowSums,
  { place = root, digest = request } = {},
): Promise<Uint8Array> {
  const sums = secrets.beginNode(rows);
  for (const { firstRecord, records } of chunks) await sums.add(firstRecord, records);
  return sums.answer(null, place, digest);
}

test.each(["A", "B"] as const)("a node is encrypted, summed and decrypted for two parties: set %s", async (name) => {
  const job = knownJob(latticeSets[name], rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const first = await hintsOf(lattice, job);
  const second = await hintsOf(lattice, job, new Uint8Array(32).fill(6));
  const node = encrypted(lattice, [first.party, second.party], job);
  // Chunk boundaries inside the mask row and the rows.
  const chunks = await chunksOf(node, 3000 * job.shape.set.recordBytes);
  expect(chunks.map(({ firstRecord }) => firstRecord)).toEqual(name === "A" ? [0, 3000] : [0, 3000, 6000]);
  const answers = [
    await answerOf(first.secrets, chunks, await rowsOf(lattice, job)),
    await answerOf(second.secrets, chunks, await rowsOf(lattice, job)),
  ];
  expect(answers[0]).not.toEqual(answers[1]);
  for (const party of [0, 1]) expect(await node.open(party, answers[party], null)).toEqual(plainSums(job));
});

test("the same plaintexts are the same bytes in every attempt; hints and answers to them are too", async () => {
  const job = knownJob(A, rowCount);
  const seen = new Set<string>();
  for (let attempt = 0; attempt < 2; attempt++) {
    const lattice = portableLatticeKernel.lattice(job.shape, 1);
    const { secrets, party, words } = await hintsOf(lattice, job);
    const others = encrypted(lattice, [party], job, { ...root, node: 3 + attempt }); // independent of what was before
    const node = encrypted(lattice, [party], job);
    const chunks = await chunksOf(node);
    const answer = await answerOf(secrets, chunks, await rowsOf(lattice, job));
    expect(await node.open(0, answer, null)).toEqual(plainSums(job));
    seen.add(Buffer.concat([words, recordsOf(chunks), answer]).toString("hex"));
    others.dispose();
  }
  expect(seen.size).toBe(1);
});

test("one integer, tree, node, output, row key or seed that differs gives an unrelated secret", async () => {
  const job = knownJob(A, rowCount);
  const { shape } = job;
  const changed = job.columns.map((column) => column.slice());
  changed[1][rowCount - 1]++;
  const otherKey = { ...shape, crsKey: shape.crsKey.map((byte) => byte ^ 1) };
  const seeds = [
    nodeSeed(jobSeed, shape, root, job.columns),
    nodeSeed(jobSeed, shape, root, changed),
    nodeSeed(jobSeed, shape, root, job.columns.toReversed()),
    ...[{ tree: 1 }, { node: 1 }, { output: 1 }].map((place) =>
      nodeSeed(jobSeed, shape, { ...root, ...place }, job.columns),
    ),
    nodeSeed(jobSeed, otherKey, root, job.columns),
    nodeSeed(jobSeed, { ...shape, t: shape.t + 2n }, root, job.columns),
    nodeSeed(request, shape, root, job.columns),
    hintSeed(jobSeed, shape, job.bins, job.chains),
    hintSeed(jobSeed, otherKey, job.bins, job.chains),
    hintSeed(jobSeed, shape, job.bins.toReversed(), job.chains),
    hintSeed(jobSeed, shape, job.bins, { ...job.chains, targets: job.chains.targets.toReversed() }),
    smudgingSeed(jobSeed, shape, root, request),
    smudgingSeed(jobSeed, shape, root, jobSeed),
    smudgingSeed(jobSeed, shape, { ...root, output: 1 }, request),
    smudgingSeed(jobSeed, otherKey, root, request),
    jobNonce(jobSeed),
    jobNonce(jobSeed, 1),
  ];
  expect(new Set(seeds.map((seed) => Buffer.from(seed).toString("hex"))).size).toBe(seeds.length);
  for (const seed of seeds) expect(seed.length).toBe(32);
});

test("a request with other records gets other smudging noise", async () => {
  const job = knownJob(A, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { secrets, party } = await hintsOf(lattice, job);
  const chunks = await chunksOf(encrypted(lattice, [party], job));
  const answers = await Promise.all(
    [{}, {}, { digest: jobSeed }, { place: { ...root, tree: 1 } }].map(async (asked) =>
      Buffer.from(await answerOf(secrets, chunks, await rowsOf(lattice, job), asked)).toString("hex"),
    ),
  );
  expect(answers[1]).toBe(answers[0]);
  expect(new Set(answers).size).toBe(3);
});

test("a node is read once, and decrypts until it is disposed of", async () => {
  const job = knownJob(A, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { party, secrets } = await hintsOf(lattice, job);
  const node = encrypted(lattice, [party], job);
  const chunks = await chunksOf(node);
  await expect(chunksOf(node)).rejects.toThrow("read once");
  const answer = await answerOf(secrets, chunks, await rowsOf(lattice, job));
  await expectError(() => node.open(0, answer.subarray(1), null), "PROTOCOL_STATE", /83 bytes/);
  await expectError(() => node.open(0, answer.subarray(0, 14), Uint32Array.of(6)), "PROTOCOL_STATE", /no hint/);
  node.dispose();
  await expectError(() => node.open(0, answer, null), "PROTOCOL_STATE", /has ended/);
});

test("disposing overwrites seeds and inner products, and stops an encryption in progress", async () => {
  const job = knownJob(A, rowCount);
  const { lattice, seen } = watched(job);
  const { party } = await hintsOf(lattice, job);
  const node = encrypted(lattice, [party], job);
  const chunks = node.chunks(1000 * A.recordBytes);
  const begun = chunks.next();
  node.dispose();
  await begun;
  await new Promise(setImmediate);
  const [products] = seen.dots;
  expect(products.every((value) => value === 0n)).toBe(true);
  // The chunk in progress was encrypted under the node's secret, not under zeros.
  expect(seen.seedsAsSeen).not.toContain(Buffer.alloc(32).toString("hex"));
  await expectError(() => chunks.next(), "PROTOCOL_STATE", /has ended/);
  for (const seeds of seen.seeds) expect(seeds.every((byte) => byte === 0)).toBe(true);
});

test("inner products of nodes that wait are computed together", async () => {
  const job = knownJob(A, rowCount);
  const { lattice, seen } = watched(job);
  const { party } = await hintsOf(lattice, job);
  const products = new InnerProducts(lattice, [party]);
  const seeds = Array.from({ length: 40 }, (_, i) => new Uint8Array(32).fill(i + 1));
  const together = await Promise.all(seeds.map((seed) => products.of(seed)));
  expect(seen.batches).toEqual([1, 32, 7]);
  const [alone] = await products.of(seeds[39]);
  expect(together[39][0]).toEqual(alone);
  await new Promise(setImmediate);
  const late = products.of(seeds[0]); // is being computed
  const waiting = products.of(seeds[1]);
  waiting.catch(() => {}); // it is awaited below
  products.close();
  await late;
  await expectError(() => waiting, "PROTOCOL_STATE", /after its job ended/);
  await expectError(() => products.of(seeds[2]), "PROTOCOL_STATE", /after its job ended/);
});

test("a failure to compute inner products is thrown when an answer is decrypted, and later nodes work", async () => {
  const job = knownJob(A, rowCount);
  const { lattice } = watched(job);
  const { party } = await hintsOf(lattice, job);
  let failures = 1;
  const failing: Lattice = Object.assign(Object.create(lattice) as Lattice, {
    dots: (...call: Parameters<Lattice["dots"]>) =>
      failures-- > 0 ? Promise.reject(new Error("no memory")) : lattice.dots(...call),
  });
  const products = new InnerProducts(failing, [party]);
  await expect(products.of(jobSeed)).rejects.toThrow("no memory");
  expect((await products.of(jobSeed)).length).toBe(1);
});

test("hints are made once, and nodes are accepted between the hints and the end", async () => {
  const job = knownJob(B, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const secrets = new HintSecrets(lattice, job.bounds, jobSeed);
  await expectError(async () => secrets.beginNode(await rowsOf(lattice, job)), "PROTOCOL_STATE", /before its hints/);
  await secrets.make(job.bins, job.chains, job.candidateCount);
  await expectError(() => secrets.make(job.bins, job.chains, 6), "PROTOCOL_STATE", /once in an attempt/);
  const node = secrets.beginNode(await rowsOf(lattice, job));
  secrets.dispose();
  await expectError(
    async () => secrets.beginNode(await rowsOf(lattice, job)),
    "PROTOCOL_STATE",
    /after the attempt ended/,
  );
  await expectError(() => node.add(0, new Uint8Array(19)), "PROTOCOL_STATE", /after the attempt ended/);
  const disposed = new HintSecrets(lattice, job.bounds, jobSeed);
  const making = disposed.make(job.bins, job.chains, job.candidateCount);
  disposed.dispose();
  await expectError(() => making, "PROTOCOL_STATE", /after the attempt/);
});

test("a node's records must be complete and in order, and are answered once", async () => {
  const job = knownJob(A, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { secrets, party } = await hintsOf(lattice, job);
  const asked = encrypted(lattice, [party], job);
  const whole = recordsOf(await chunksOf(asked, 2048 * 25));
  const sent = async (...parts: [number, Uint8Array][]): Promise<Uint8Array> => {
    const node = secrets.beginNode(await rowsOf(lattice, job));
    for (const [first, records] of parts) await node.add(first, records);
    return node.answer(null, root, request);
  };
  await expectError(() => sent([0, whole.subarray(0, 26)]), "PROTOCOL_STATE", /whole records from 0/);
  await expectError(() => sent([0, new Uint8Array(0)]), "PROTOCOL_STATE", /whole records/);
  await expectError(() => sent([4096, whole.subarray(4096 * 25)]), "PROTOCOL_STATE", /from 0 on/);
  const [head, rest] = [whole.subarray(0, 100 * 25), whole.subarray(100 * 25)];
  await expectError(() => sent([0, head], [0, head]), "PROTOCOL_STATE", /from 100 on/);
  await expectError(() => sent([0, head]), "PROTOCOL_STATE", /got 100/);
  await expectError(() => sent([0, Buffer.concat([whole, head])]), "PROTOCOL_STATE", /more were sent/);
  for (const record of [5, 4097]) {
    const spoilt = Buffer.from(whole);
    spoilt.fill(0xff, record * 25, record * 25 + 25);
    await expectError(() => sent([0, spoilt]), "CIPHERTEXT_RANGE", new RegExp(`record ${record} of`));
  }
  const node = secrets.beginNode(await rowsOf(lattice, job));
  await node.add(0, head);
  await node.add(100, rest);
  expect(await asked.open(0, await node.answer(null, root, request), null)).toEqual(plainSums(job));
  await expectError(() => node.answer(null, root, request), "PROTOCOL_STATE", /answered once/);
  await expectError(() => node.add(4136, head), "PROTOCOL_STATE", /answered once/);
  // A rejected node cannot be completed later.
  const broken = secrets.beginNode(await rowsOf(lattice, job));
  await expectError(() => broken.add(1, head), "PROTOCOL_STATE");
  await expectError(() => broken.add(0, head), "PROTOCOL_STATE", /all of its records/);
});
