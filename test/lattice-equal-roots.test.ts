/**
 * Roots with the same gradients, in a lattice job with noise: they get the same noise, so that asking again gives no
 * second draw to average. These are the first roots of the trials of `tune`, and those of a forest without sampling.
 */
import { describe, expect, test } from "vitest";
import { generateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { schemeNamed } from "../src/scheme/registry.ts";
import { trainBrokenOff } from "./support/broken-job.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

const table = randomTable("equal-roots", { rows: 90, features: [1, 2], missingFraction: 0.1 });
const forest = { num_round: 2, num_parallel_tree: 3, max_depth: 2 };

async function jobOf(change: Partial<TestJob>): Promise<TestJob> {
  const key = await generateKey({ bits: 256, insecure: true });
  const defences = { answer_noise: 1 };
  return { table, kernel: selectKernel(), key, scheme: lattice, training: forest, defences, ...change };
}

/** Per tree the sums of its root, as the active party has opened them. */
async function rootSums(job: TestJob): Promise<string[]> {
  const sums: string[] = [];
  const { model } = await trainFederated({
    ...job,
    look: {
      observed: (_peer, seen) => {
        if (seen.kind === "sums" && seen.node === 0 && seen.rows !== null) sums[seen.tree] = seen.rows.join();
      },
    },
  });
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  return sums;
}

test("trees of a forest have one noise at their roots, and other gradients another", async () => {
  const sums = await rootSums(await jobOf({}));
  expect(sums).toHaveLength(6);
  expect(new Set(sums.slice(0, 3)).size).toBe(1);
  expect(new Set(sums.slice(3)).size).toBe(1);
  expect(sums[0]).not.toBe(sums[3]);
  const sampled = await rootSums(await jobOf({ training: { ...forest, subsample: 0.5 } }));
  expect(new Set(sampled).size).toBe(6);
});

test("also after a restart between them", async () => {
  const job = await jobOf({ table: { ...table, parties: [[], table.parties[1]] } });
  const { model } = await trainBrokenOff(job, [1, 2], "node");
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
});

/** Per tree of the first round the sums of the node below the root that is requested. */
async function childSums(scheme: "paillier" | "curve" | "lattice"): Promise<number[][]> {
  const trees = 16;
  const sums: number[][] = [];
  const { scheme: _, ...job } = await jobOf({ training: { num_round: 1, num_parallel_tree: trees, max_depth: 2 } });
  await trainFederated({
    ...job,
    ...(scheme === "paillier" ? {} : { scheme: schemeNamed(scheme) }),
    look: {
      observed: (_peer, seen) => {
        if (seen.kind === "sums" && seen.node > 0 && seen.rows !== null) (sums[seen.tree] ??= []).push(...seen.rows);
      },
    },
  });
  expect(sums).toHaveLength(trees);
  return sums;
}

describe("the same question below a root, in each of 16 trees", () => {
  test.each(["paillier", "curve"] as const)("%s: the same noise, so that averaging gains nothing", async (scheme) => {
    const sums = await childSums(scheme);
    expect(sums[0].length).toBeGreaterThan(20);
    for (const other of sums) expect(other).toEqual(sums[0]);
  });

  test("lattice: other noise, so that the mean of n answers has its deviation divided by the root of n", async () => {
    const sums = await childSums("lattice");
    const half = sums.length / 2;
    /** Differences of the means of n trees and n others: what all answers have in common cancels. */
    const spread = (n: number): number => {
      const mean = (from: number, i: number): number =>
        sums.slice(from, from + n).reduce((sum, values) => sum + values[i], 0) / n;
      const squares = sums[0].map((_, i) => (mean(0, i) - mean(half, i)) ** 2);
      return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
    };
    const gain = spread(1) / spread(half);
    expect(gain).toBeGreaterThan(Math.sqrt(half) / 1.6);
    expect(gain).toBeLessThan(Math.sqrt(half) * 1.6);
  });
});
