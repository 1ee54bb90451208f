/** Training with workers: over an engine that duplicates, delays and reorders, the model equals that of one process.
 * */
import { beforeAll, expect, test } from "vitest";
import { TestCrew } from "../../test/support/crews.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "../../test/support/in-memory-job.ts";
import { manyFeatures } from "../../test/support/oracle-jobs.ts";
import { randomTable } from "../../test/support/tables.ts";
import { generateKey, type PrivateKey, selectKernel } from "../crypto/paillier/index.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { noMinimums } from "../gbdt/split/offered-candidates.ts";
import { lattice } from "../scheme/lattice/lattice.ts";
import { paillier } from "../scheme/paillier/paillier.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

async function expectSame(job: Pick<TestJob, "table"> & Partial<TestJob>, workers: number): Promise<void> {
  const whole = { kernel, key, ...job };
  const crews: TestCrew[] = [];
  const passiveScheme: TestJob["passiveScheme"] = () => {
    const crew = new TestCrew({ seed: `${workers} ${crews.length}` });
    crews.push(crew);
    const all = Array.from({ length: workers }, (_, i) => crew.work(`w${i}`));
    // One of several workers leaves in the middle.
    if (workers > 1) void crew.until(() => all[0].worker.blockCount > 0).then(() => all[0].kill());
    return (job.scheme ?? paillier).passive({ threads: 1, crew: crew.crew({ workersMin: workers }) });
  };
  try {
    const { model } = await trainFederated({ ...whole, passiveScheme });
    expect(firstDifference(model, await trainInOnePlace(whole))).toBeNull();
    expect(workers === 1 || crews.every(({ moves }) => moves > 0)).toBe(true);
  } finally {
    for (const crew of crews) crew.stop();
  }
}

const guarded = {
  minimums: [noMinimums, { perCandidate: 2, perNode: 4 }],
  defences: { answer_noise: 0.7 },
};

/** Further cases, in blocks without workers: test/oracle-blocks.test.ts. */
const named = (name: string): typeof manyFeatures => manyFeatures.filter(([known]) => known.includes(name));

test.each(named("sampled"))("Paillier with 3 workers: %s", async (_name, table, training) => {
  await expectSame({ table, training }, 3);
});

test.each(named("several outputs"))("lattices with 3 workers: %s", async (_name, table, training) => {
  await expectSame({ table, training, scheme: lattice }, 3);
});

test.each([
  ["paillier", {}],
  ["lattice", { scheme: lattice }],
] as const)("one worker, with noise and minimums: %s", async (_name, scheme) => {
  const table = randomTable("guarded", { rows: 60, features: [1, 2], missingFraction: 0.1 });
  await expectSame({ table, ...scheme, ...guarded }, 1);
});
