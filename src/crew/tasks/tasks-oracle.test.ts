/** Both parties with workers, over engines that duplicate, delay and lose acknowledgements: the model is the same. */
import { beforeAll, expect, test } from "vitest";
import { TestCrew } from "../../../test/support/crews.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "../../../test/support/in-memory-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { generateKey, type PrivateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { firstDifference } from "../../gbdt/tree/model-compare.ts";
import type { ActiveProgress } from "../../protocol/active/role.ts";
import { noProgress, type PassiveProgress } from "../../protocol/passive/progress.ts";
import { PaillierActive } from "../../scheme/paillier/active.ts";
import { paillier } from "../../scheme/paillier/paillier.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

function crewOf(workers: number, seed: string): TestCrew {
  const crew = new TestCrew({ seed: `${seed} ${workers}` });
  const all = Array.from({ length: workers }, (_, i) => crew.work(`w${i}`));
  // One of several workers leaves in the middle.
  if (workers > 1) void crew.until(() => all[0].worker.taskCount > 3).then(() => all[0].kill());
  return crew;
}

const never = (): Promise<void> => new Promise(() => {});

test.each([1, 3])("%i workers at each party", async (workers) => {
  const table = randomTable("tasks", { rows: 60, features: [1, 2], missingFraction: 0.1 });
  const [bank, shop] = [crewOf(workers, "bank"), crewOf(workers, "shop")];
  const job: TestJob = { table, kernel, key, defences: { answer_noise: 0.7 } };
  try {
    const active: TestJob["activeScheme"] = (...given) =>
      new PaillierActive(given[0], given[1], 1, given[2], never, undefined, bank.crew({ workersMin: workers }));
    const { model } = await trainFederated({
      ...job,
      activeScheme: active,
      passiveScheme: () => paillier.passive({ threads: 1, crew: shop.crew({ workersMin: workers }) }),
    });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect([bank, shop].map(({ tasks }) => tasks > 0)).toEqual([true, true]);
  } finally {
    for (const crew of [bank, shop]) crew.stop();
  }
});

test("the bank's workers leave for good: the attempt ends with a known error, the next runs without them", async () => {
  const table = randomTable("tasks, then none", { rows: 60, features: [1, 2], missingFraction: 0.1 });
  const job: TestJob = { table, kernel, key, permutationSecrets: [new Uint8Array(32)] };
  const bank = crewOf(1, "gone");
  const party = bank.crew();
  let passive: PassiveProgress = noProgress;
  const kept: { active: ActiveProgress; passive: PassiveProgress }[] = [];
  const broken = trainFederated({
    ...job,
    stored: { progress: noProgress, store: async (progress) => void (passive = structuredClone(progress)) },
    activeStored: {
      store: async (active) => {
        kept.push(structuredClone({ active, passive }));
        bank.killWorkers();
      },
    },
    activeScheme: (...given) => new PaillierActive(given[0], given[1], 1, given[2], never, undefined, party),
  });
  await expect(broken).rejects.toThrow(/no task was done for \d+ s/);
  expect([kept.length, party.failure?.code]).toEqual([1, "WORKERS_MISSING"]);
  const { model } = await trainFederated({
    ...job,
    stored: { progress: kept[0].passive, store: async () => {} },
    activeStored: { progress: kept[0].active },
  });
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
});
