import { expect, test } from "vitest";
import { TestCrew } from "../../test/support/crews.ts";
import { trainFederated } from "../../test/support/in-memory-job.ts";
import { randomTable } from "../../test/support/tables.ts";
import { generateKey, selectKernel } from "../crypto/paillier/index.ts";
import { paillier } from "../scheme/paillier/paillier.ts";

test("a worker without memory takes no block; others take all", async () => {
  const crew = new TestCrew();
  const full = crew.work("full", { hasRoom: () => false });
  const able = crew.work("able");
  const counts: { full: number; able: number }[] = [];
  const table = randomTable("room", { rows: 30, features: [1, 2] });
  try {
    await trainFederated({
      kernel: selectKernel(),
      key: await generateKey({ bits: 256, insecure: true }),
      table,
      training: { num_round: 1, max_depth: 2 },
      passiveScheme: () => paillier.passive({ threads: 1, crew: crew.crew({ workersMin: 2 }) }),
      look: { treeFinished: () => counts.push({ full: full.worker.blockCount, able: able.worker.blockCount }) },
    });
  } finally {
    crew.stop();
  }
  expect(counts).toEqual([{ full: 0, able: 5 }]);
  expect(full.troubles[0]).toMatch(/not one block fits into the --memory/);
  expect(able.troubles).toEqual([]);
});
