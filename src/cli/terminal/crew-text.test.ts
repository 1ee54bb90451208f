import { expect, test } from "vitest";
import type { CrewEstimate } from "../../simulate/crew-estimate.ts";
import type { Estimate } from "../../simulate/estimate.ts";
import { crewText } from "./crew-text.ts";

const crew: CrewEstimate = {
  workers: 4,
  threads: 16,
  blocks: 10,
  rowsPerBlock: 1_048_576,
  blocksPerWorker: 3,
  workerSecondsPerTree: 29,
  workerMemoryBytes: 2.24e9,
  workerBytesPerTree: { sent: 1.6e9, answered: 1.5e8 },
  engineBytesPerTree: { sent: 5.1e9, answered: 5e8 },
  partySecondsPerTree: 31,
  activeSecondsPerTree: 345,
  lineSecondsPerTree: 34,
  secondsPerTree: 405,
  bottleneck: "the active party",
  memoryBytesMax: null,
  workersForMemory: null,
};
const estimate: Estimate = {
  activeCpuSeconds: 1,
  passiveCpuSeconds: [1],
  bytes: { activeToPassive: 1, passiveToActive: 1 },
  memoryBytes: { active: 1, passives: [1] },
  resolutionBits: 24,
  kernel: "native",
  cores: 2,
  cpuSeconds: 2,
  wallSeconds: 1,
  secondsPerTree: 1,
};
const shown = (more: Partial<CrewEstimate>): string =>
  crewText([{ scheme: "paillier", estimate: { ...estimate, crews: [{ ...crew, ...more }] } }]).join("\n");

test("per worker: blocks, memory, bytes and time; the slowest part and what was assumed are named", () => {
  const text = shown({});
  expect(text).toMatch(/workers x threads +4 x 16/);
  expect(text).toMatch(/blocks +10 of 1,048,576 rows/);
  expect(text).toMatch(/through the engine, per tree +5\.60 GB/);
  expect(text).toContain("paillier: the slowest is the active party.");
  expect(text).toContain("have 2 cores each, as this machine");
  expect(text).not.toContain("needed");
});

test("the number of workers that a memory limit needs, or that none is enough; nothing unless asked for", () => {
  expect(shown({ memoryBytesMax: 64e9, workersForMemory: 12 })).toMatch(/workers of 64\.0 GB needed +12/);
  expect(shown({ memoryBytesMax: 1e6 })).toMatch(/workers of 1\.00 MB needed +no number is enough/);
  expect(crewText([{ scheme: "paillier", estimate }])).toEqual([]);
});
