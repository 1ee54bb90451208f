/** The cost model of a crew satisfies simple identities, and matches the tables of docs/scale-out.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { resolveParameters, codecWith } from "../base/parameters/parameters.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { latticeSets } from "../crypto/lattice/parameters/sets.ts";
import { nodeBytesUp, passiveMemoryBytes } from "../crypto/lattice/parameters/sizes.ts";
import { nodesPerOutput } from "../party/job-grid.ts";
import { latticeCodec } from "../scheme/lattice/job-resolution.ts";
import type { Prediction } from "../scheme/cost-model.ts";
import {
  type CrewEstimate,
  type CrewQuestion,
  engineShare,
  estimateCrews,
  lineBytesPerSecond,
} from "./crew-estimate.ts";
import { type Estimate, estimate } from "./estimate.ts";
import type { SimulateOptions } from "./simulate-options.ts";

const idle = 0.9;
const features = 100;

/** The figures of docs/scale-out.md: seconds and bytes of one tree of depth 6, Paillier with 2048 bits. */
function paper(rows: number): Prediction {
  const sums = 1.25e-6 * 2.5 * rows * features;
  return {
    activeCpuSeconds: 120e-6 * rows,
    passiveCpuSeconds: [sums],
    bytes: { activeToPassive: 512 * rows, passiveToActive: 0 },
    blocks: [
      {
        cpuSeconds: sums,
        bytesPerRow: 512 + 2 * features,
        toldBytesPerRow: 512,
        answerBytes: 32 * 32 * features * 512,
        answerBytesOnce: 32 * features * 512,
      },
    ],
    memoryBytes: { active: 0, passives: [0] },
  };
}

const question: CrewQuestion = { workers: 4, threads: 16, cores: 16, memoryBytesMax: null };
const onPaper = (rows: number, more: Partial<CrewQuestion> = {}): CrewEstimate =>
  estimateCrews(paper(rows), { rows, trees: 1 }, { ...question, ...more })[0];
const rows = 2 ** 23;

test("two workers have half of the blocks, memory, bytes and time of one each; all of them together the same", () => {
  const [two, four] = [onPaper(rows, { workers: 2 }), onPaper(rows, { workers: 4 })];
  expect([two.blocksPerWorker * two.rowsPerBlock, four.blocksPerWorker * four.rowsPerBlock]).toEqual([
    rows / 2,
    rows / 4,
  ]);
  expect(four.workerSecondsPerTree).toBeCloseTo(two.workerSecondsPerTree / 2, 10);
  expect(four.workerBytesPerTree.sent).toBe(two.workerBytesPerTree.sent / 2);
  expect(four.engineBytesPerTree.sent).toBe(512 * rows);
  expect(4 * four.workerBytesPerTree.sent).toBe(four.engineBytesPerTree.sent);
  expect(4 * four.workerBytesPerTree.answered).toBe(four.engineBytesPerTree.answered);
  const once = 32 * features * 512;
  expect(2 * (four.workerMemoryBytes - once)).toBe(two.workerMemoryBytes - once);
});

test("twice the threads take half of the time; workers do the sums and a tenth more for the engine", () => {
  const few = onPaper(rows);
  expect(onPaper(rows, { threads: 32 }).workerSecondsPerTree).toBeCloseTo(few.workerSecondsPerTree / 2, 10);
  const cpu = few.workerSecondsPerTree * idle * few.threads * few.workers;
  expect(cpu).toBeCloseTo(1.25e-6 * 2.5 * rows * features * (1 + engineShare), 6);
  const parts = few.activeSecondsPerTree + few.partySecondsPerTree + few.workerSecondsPerTree;
  expect(few.secondsPerTree).toBeCloseTo(parts, 10);
  expect(few.lineSecondsPerTree).toBeCloseTo((512 * rows) / lineBytesPerSecond, 10);
});

test("workers in excess of the number of blocks are idle and change nothing", () => {
  const [some, many] = [16, 2000].map((workers) => onPaper(2 ** 18, { workers }));
  expect([some.blocks, some.blocksPerWorker, many.blocksPerWorker]).toEqual([4, 1, 1]);
  expect(many.workerSecondsPerTree).toBe(some.workerSecondsPerTree);
});

test("the bottleneck is the slowest part", () => {
  expect(onPaper(rows, { cores: 4 }).bottleneck).toBe("the active party");
  expect(onPaper(rows, { cores: 64, threads: 1 }).bottleneck).toBe("its workers");
  expect(onPaper(rows, { cores: 512, workers: 64 }).bottleneck).toBe("the line between the companies");
});

test("with a memory limit: the fewest workers whose blocks fit", () => {
  const memoryBytesMax = 64e9;
  const needed = onPaper(1e9, { workers: null, memoryBytesMax });
  expect(needed.workers).toBe(needed.workersForMemory);
  expect(needed.workerMemoryBytes).toBeLessThanOrEqual(memoryBytesMax);
  const fewer = onPaper(1e9, { workers: needed.workers - 1, memoryBytesMax });
  expect(fewer.workerMemoryBytes).toBeGreaterThan(memoryBytesMax);
  expect(onPaper(1e9, { memoryBytesMax: 1e6 }).workersForMemory).toBeNull();
});

test("the table of docs/scale-out.md has the model's cores, memory and bytes", () => {
  for (const [power, active, passive, workers, memory, sent] of tableUnder("### Paillier")) {
    const rows = 10 ** power;
    const { workerSecondsPerTree, engineBytesPerTree, blocks, blocksPerWorker } = onPaper(rows, { workers });
    const blockCpu = (workerSecondsPerTree * idle * 16 * blocks) / blocksPerWorker;
    // Rounding up to whole blocks makes a worker's share larger.
    expect(Math.abs(blockCpu / 60 / passive - 1), "passive cores").toBeLessThan(0.1);
    expect(Math.abs(((120e-6 * rows) / 60 / active) * (1 + engineShare) - 1), "active cores").toBeLessThan(0.05);
    expect(Math.abs(((512 + 2 * features) * rows) / 1e9 / memory - 1), "GB of memory").toBeLessThan(0.05);
    expect(Math.abs(engineBytesPerTree.sent / 1e9 / sent - 1), "GB between the companies").toBeLessThan(0.02);
  }
});

test("its table for lattices has the bytes of 32 nodes, the memory, and the bits that 100 trees leave", () => {
  const nodesMax = nodesPerOutput(resolveParameters(trainingParameters, { num_round: 100, max_depth: 6 }));
  for (const [power, , , memory, sent, bits] of tableUnder("### Lattices")) {
    const rowCount = 10 ** power;
    const facts = {
      rows: rowCount,
      nodesMax,
      outputsPerTree: 1,
      outputs: 1,
      answerNoise: 0,
      maxDepth: 6,
      maxLeaves: 0,
    };
    const { resolution_bits: reached } = latticeCodec(codecWith(), facts);
    const set = latticeSets.B;
    const candidates = features * 31;
    expect(Math.abs((32 * nodeBytesUp(set, rowCount)) / 1e9 / sent - 1), "GB").toBeLessThan(0.01);
    expect(Math.abs(passiveMemoryBytes(set, rowCount, features, candidates) / 1e9 / memory - 1), "GB").toBeLessThan(
      0.05,
    );
    expect(reached).toBe(bits);
  }
});

/** The numbers of the first table below a heading of docs/scale-out.md: a line for 10^7, 10^8 and 10^9 rows. */
function tableUnder(heading: string): number[][] {
  const text = readFileSync(new URL("../../docs/scale-out.md", import.meta.url), "utf8");
  const below = text.slice(text.indexOf(`\n${heading}\n`));
  const lines = [...below.matchAll(/^\| 10\^(7|8|9) +\|(.*)\|$/gm)]
    .slice(0, 3)
    .map(([, power, cells]) => [
      Number(power),
      ...cells.split("|").map((cell) => Number.parseFloat(cell.replaceAll(",", ""))),
    ]);
  expect(lines.map(([power]) => power)).toEqual([7, 8, 9]);
  return lines;
}

const table = join(scratchDirectory(), "table.csv");
writeFileSync(
  table,
  ["a,b,c,y", ...Array.from({ length: 80 }, (_, i) => `${(i * 7) % 11},${(i * 5) % 13},${i},${i % 2}`)].join("\n"),
);
const options: SimulateOptions = {
  data: table,
  label: "y",
  active: ["a"],
  passives: [["b", "c"]],
  testFraction: 0.25,
  missing: [],
  job: { training: { num_round: 2, max_depth: 2 }, insecureKeyBits: 512 },
  check: false,
  onEvent: () => {},
};

test("a real table as if it were a million times as long: both schemes, bytes of a row as they are sent", async () => {
  const crew = { workers: 16, threads: 8, memoryBytesMax: null };
  const rows = 60e6;
  const { schemes } = await estimate(options, { rows, crew });
  const of = (name: string): Estimate => {
    const found = schemes.find(({ scheme }) => scheme === name)?.estimate ?? null;
    if (found === null) throw new Error(`no estimate of ${name}`);
    return found;
  };
  const [paillier, lattice] = [of("paillier"), of("lattice")];
  expect(paillier.resolutionBits).toBe(24);
  expect(lattice.resolutionBits, "coarser, for that number of rows").toBeLessThan(20);
  for (const found of [paillier, lattice]) {
    const [{ blocks, rowsPerBlock, engineBytesPerTree }] = found.crews ?? [];
    expect([blocks, rowsPerBlock]).toEqual([58, 2 ** 20]);
    // What the active party sends is passed to the workers, except masks and node members.
    expect(engineBytesPerTree.sent / (found.bytes.activeToPassive / 2)).toBeCloseTo(1, 1);
  }
  // A ciphertext of a 512-bit key, and four bytes per row of the smaller children.
  expect(paillier.crews?.[0].engineBytesPerTree.sent).toBe((128 + 4 * 0.3) * rows);
  // A record for each of the two requested nodes.
  expect([19, 25].map((record) => record * 2 * rows)).toContain(lattice.crews?.[0].engineBytesPerTree.sent);
});
