import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { knownJob, type LatticeJob, plainSums } from "../../../test/support/lattice-job.ts";
import { HintSecrets } from "./hint-secrets.ts";
import type { Lattice } from "./kernel.ts";
import { PrecomputationPool } from "./precomputation-pool.ts";
import { precomputeNodes, type NodePrecomputation, type PartyHints, type SealedChunk } from "./node-precomputation.ts";
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

async function hintsOf(lattice: Lattice, job: LatticeJob): Promise<{ secrets: HintSecrets; party: PartyHints }> {
  const secrets = new HintSecrets(lattice, job.bounds);
  const words = await secrets.make(job.bins, job.chains, job.candidateCount);
  const table = new BigUint64Array(lattice.tableSize(job.candidateCount));
  await lattice.loadHints(words, 0, table);
  return { secrets, party: { candidateCount: job.candidateCount, table } };
}

async function chunksOf(
  precomputation: NodePrecomputation,
  job: LatticeJob,
  chunkBytes?: number,
): Promise<SealedChunk[]> {
  const chunks: SealedChunk[] = [];
  for await (const chunk of precomputation.seal(job.columns, chunkBytes)) chunks.push(chunk);
  return chunks;
}

async function rowsOf(lattice: Lattice, { bins, chains }: LatticeJob): Promise<HeldRowSums> {
  return new HeldRowSums(lattice, await lattice.rowBins(bins, chains.binCounts), chains.binCounts);
}

async function answerOf(secrets: HintSecrets, chunks: readonly SealedChunk[], rows: HeldRowSums): Promise<Uint8Array> {
  const sums = secrets.beginNode(rows);
  for (const { firstRecord, records } of chunks) await sums.add(firstRecord, records);
  return sums.answer(null);
}

test.each(["A", "B"] as const)("a node is encrypted, summed and decrypted for two parties: set %s", async (name) => {
  const job = knownJob(latticeSets[name], rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const first = await hintsOf(lattice, job);
  const second = await hintsOf(lattice, job);
  const [precomputation] = await precomputeNodes(lattice, [first.party, second.party], 1);
  // Chunk boundaries inside the mask row and the rows.
  const chunks = await chunksOf(precomputation, job, 3000 * job.shape.set.recordBytes);
  expect(chunks.map(({ firstRecord }) => firstRecord)).toEqual(name === "A" ? [0, 3000] : [0, 3000, 6000]);
  const answers = [
    await answerOf(first.secrets, chunks, await rowsOf(lattice, job)),
    await answerOf(second.secrets, chunks, await rowsOf(lattice, job)),
  ];
  expect(answers[0]).not.toEqual(answers[1]);
  for (const party of [0, 1]) expect(await precomputation.open(party, answers[party], null)).toEqual(plainSums(job));
});

test("a precomputation encrypts once, even if unread, and decrypts between seal and dispose", async () => {
  const job = knownJob(A, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { party, secrets } = await hintsOf(lattice, job);
  const [precomputation, unused] = await precomputeNodes(lattice, [party], 2);
  await expectError(() => precomputation.open(0, new Uint8Array(84), null), "PROTOCOL_STATE", /is fresh/);
  precomputation.seal(job.columns);
  await expectError(() => precomputation.seal(job.columns), "PROTOCOL_STATE", /twice under one secret/);
  const chunks = await chunksOf(unused, job);
  await expectError(() => unused.seal(job.columns), "PROTOCOL_STATE", /twice under one secret/);
  const answer = await answerOf(secrets, chunks, await rowsOf(lattice, job));
  await expectError(() => unused.open(0, answer.subarray(1), null), "PROTOCOL_STATE", /83 bytes/);
  await expectError(() => unused.open(0, answer.subarray(0, 14), Uint32Array.of(6)), "PROTOCOL_STATE", /no hint/);
  unused.dispose();
  await expectError(() => unused.open(0, answer, null), "PROTOCOL_STATE", /is disposed/);
});

test("disposing overwrites seeds and inner products, and stops an encryption in progress", async () => {
  const job = knownJob(A, rowCount);
  const { lattice, seen } = watched(job);
  const { party } = await hintsOf(lattice, job);
  const precomputations = await precomputeNodes(lattice, [party], 2);
  const [batch] = seen.seeds.filter(({ length }) => length === 64);
  const [dots] = seen.dots;
  const chunks = precomputations[0].seal(job.columns, 1000 * A.recordBytes);
  const begun = chunks.next();
  precomputations[0].dispose();
  expect(batch.subarray(0, 32).every((byte) => byte === 0)).toBe(true);
  expect(batch.subarray(32).every((byte) => byte === 0)).toBe(false);
  expect(dots.subarray(0, dots.length / 2).every((value) => value === 0n)).toBe(true);
  expect(dots.subarray(dots.length / 2).some((value) => value === 0n)).toBe(false);
  // The chunk in progress was encrypted under the precomputation's secret, not under zeros.
  const zeros = Buffer.alloc(32).toString("hex");
  await begun;
  expect(seen.seedsAsSeen).not.toContain(zeros);
  await expectError(() => chunks.next(), "PROTOCOL_STATE", /is disposed/);
  // Copies are overwritten too: those of hints and of the chunk.
  for (const seeds of seen.seeds) if (seeds !== batch) expect(seeds.every((byte) => byte === 0)).toBe(true);
});

test("no two precomputations, hints or answers share a seed", async () => {
  const job = knownJob(A, rowCount);
  const { lattice, seen } = watched(job);
  const { party, secrets } = await hintsOf(lattice, job);
  await hintsOf(lattice, job);
  const precomputations = await precomputeNodes(lattice, [party], 2);
  for (const precomputation of precomputations)
    await answerOf(secrets, await chunksOf(precomputation, job), await rowsOf(lattice, job));
  // Two of hints, two of precomputations (used by dots and by seal), two of smudging noise.
  expect(seen.seedsAsSeen.length).toBe(8);
  expect(new Set(seen.seedsAsSeen).size).toBe(6);
});

test("a pool makes 16 precomputations at once, ahead if asked to, and no more than expected", async () => {
  const job = knownJob(A, rowCount);
  const { lattice, seen } = watched(job);
  const { party } = await hintsOf(lattice, job);
  const pool = new PrecomputationPool(lattice, [party]);
  pool.expect(20);
  const taken = await Promise.all(Array.from({ length: 20 }, () => pool.take()));
  expect(new Set(taken).size).toBe(20);
  expect(seen.batches).toEqual([20]);
  await pool.take();
  expect(seen.batches).toEqual([20, 16]);
  pool.expect(15);
  await pool.take();
  expect(seen.batches).toEqual([20, 16]);
  pool.close();
  await expectError(() => pool.take(), "PROTOCOL_STATE", /after its job ended/);
  for (const precomputation of taken) precomputation.seal(job.columns);
  // Unused precomputations are overwritten.
  expect(seen.dots[1].subarray(2 * lattice.dotCount(6)).every((value) => value === 0n)).toBe(true);
});

test("a failure to make precomputations is thrown by take, and the pool recovers", async () => {
  const job = knownJob(A, rowCount);
  const { lattice } = watched(job);
  const { party } = await hintsOf(lattice, job);
  let failures = 2;
  const failing: Lattice = Object.assign(Object.create(lattice) as Lattice, {
    dots: (...call: Parameters<Lattice["dots"]>) =>
      failures-- > 0 ? Promise.reject(new Error("no memory")) : lattice.dots(...call),
  });
  const pool = new PrecomputationPool(failing, [party]);
  pool.expect(1);
  await expect(pool.take()).rejects.toThrow("no memory");
  await expect(pool.take()).rejects.toThrow("no memory");
  await pool.take();
});

test("hints are made once, and nodes are accepted between the hints and the end", async () => {
  const job = knownJob(B, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const secrets = new HintSecrets(lattice, job.bounds);
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
  const disposed = new HintSecrets(lattice, job.bounds);
  const making = disposed.make(job.bins, job.chains, job.candidateCount);
  disposed.dispose();
  await expectError(() => making, "PROTOCOL_STATE", /after the attempt/);
});

test("a node's records must be complete and in order, and are answered once", async () => {
  const job = knownJob(A, rowCount);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { secrets, party } = await hintsOf(lattice, job);
  const [precomputation] = await precomputeNodes(lattice, [party], 1);
  const chunks = await chunksOf(precomputation, job, 2048 * 25);
  const whole = Buffer.concat(chunks.map(({ records }) => records));
  const sent = async (...parts: [number, Uint8Array][]): Promise<Uint8Array> => {
    const node = secrets.beginNode(await rowsOf(lattice, job));
    for (const [first, records] of parts) await node.add(first, records);
    return node.answer(null);
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
  expect(await precomputation.open(0, await node.answer(null), null)).toEqual(plainSums(job));
  await expectError(() => node.answer(null), "PROTOCOL_STATE", /answered once/);
  await expectError(() => node.add(4136, head), "PROTOCOL_STATE", /answered once/);
  // A rejected node cannot be completed later.
  const broken = secrets.beginNode(await rowsOf(lattice, job));
  await expectError(() => broken.add(1, head), "PROTOCOL_STATE");
  await expectError(() => broken.add(0, head), "PROTOCOL_STATE", /all of its records/);
});
