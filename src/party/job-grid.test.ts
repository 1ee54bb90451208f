import { expect, test } from "vitest";
import { codecWith } from "../base/parameters/parameters.ts";
import type { Job } from "../protocol/job.ts";
import { type GivenJob, resolveJob } from "./resolve-job.ts";
import { quantiserOfJob, codecOfJob, layoutOfJob } from "./job-grid.ts";

const job = (training: Record<string, unknown> = {}, more: GivenJob = {}): Job =>
  resolveJob({ scheme: "lattice", training: { num_round: 50, max_depth: 3, ...training }, ...more });
const bitsOf = (asked: Job, rows: number): number => codecOfJob(asked, rows).resolution_bits;

test("Paillier takes the resolution that is asked for, whatever the job", () => {
  const asked = { ...job({ num_round: 5000 }, { scheme: "paillier" }), codec: codecWith({ resolution_bits: 40 }) };
  expect(codecOfJob(asked, 1_000_000)).toBe(asked.codec);
});

test("lattice takes what is asked for where it can, and at most 24", () => {
  expect(bitsOf(job(), 1000)).toBe(24);
  const [coarse, fine] = [12, 40].map((bits) => ({ ...job(), codec: codecWith({ resolution_bits: bits }) }));
  expect(bitsOf(coarse, 1000)).toBe(12);
  expect(bitsOf(fine, 1000)).toBe(24);
});

test("the more rows and nodes, the coarser; set B takes over below 20", () => {
  // Set B reaches more with many rows, where A would have less than 20 bits.
  const some = bitsOf(job(), 18_300);
  expect(some).toBeGreaterThanOrEqual(20);
  expect(some).toBeLessThan(24);
  expect(bitsOf(job({ num_round: 200 }), 18_300)).toBeLessThan(some);
  expect(bitsOf(job(), 300_000)).toBeGreaterThan(20);
  expect(bitsOf(job({ num_round: 500, max_depth: 6 }), 4_000_000)).toBeLessThan(20);
});

test("a job that has taken its resolution takes it again", () => {
  for (const instances of [18_300, 60_000, 4_000_000]) {
    const asked = job({ num_round: 100 });
    const taken = codecOfJob(asked, instances);
    expect(codecOfJob({ ...asked, codec: taken }, instances)).toEqual(taken);
  }
});

test("noise takes room: of each resolution its own", () => {
  const quiet = bitsOf(job({ num_round: 20 }), 18_300);
  const loud = bitsOf(job({ num_round: 20 }, { privacy: { answer_noise: 500 } }), 18_300);
  expect(loud).toBeLessThan(quiet);
  expect(loud).toBeGreaterThanOrEqual(20);
});

test("a warm start counts the new rounds only; local rounds do not count", () => {
  const start = { model: "", trees: Array.from({ length: 500 }, () => []) };
  expect(codecOfJob({ ...job(), start }, 18_300)).toEqual(codecOfJob(job(), 18_300));
  expect(bitsOf(job({ local_rounds: 50 }), 1000)).toBe(24);
});

test("where counts are not sent, gradients are rounded to integers of either sign", () => {
  const gradients = {
    values: [Float64Array.of(-0.5, 0.25), Float64Array.of(0.25, 0.2)],
    bounds: [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ],
  };
  expect(layoutOfJob(job(), gradients).hidesCounts).toBe(true);
  expect(layoutOfJob(job({}, { scheme: "paillier" }), gradients).hidesCounts).toBe(false);
  const { columns } = quantiserOfJob(job())(gradients);
  expect(columns[0][0]).toBe(-(2 ** 23));
});
