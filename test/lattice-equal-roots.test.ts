/**
 * Roots with the same gradients, in a lattice job with noise: they get the same noise, so that asking again gives no
 * second draw to average. These are the first roots of the trials of `tune`, and those of a forest without sampling.
 */
import { expect, test } from "vitest";
import { generateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
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
