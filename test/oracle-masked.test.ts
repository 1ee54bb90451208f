/** Jobs with masked scoring: test rows and start models without a single outcome, the same model to the last bit. */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { partOf } from "./support/campaign.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});
const defences = { masked_scoring: true };

/** The job in one place, plain and masked: trainFederated compares predictions with training-time margins itself. */
async function expectSame(table: TestTable, training: Partial<TrainingParameters>): Promise<void> {
  const job = { table, training, kernel, key };
  const [plain, masked] = [await trainFederated(job), await trainFederated({ ...job, defences })];
  expect(firstDifference(masked.model, plain.model)).toBeNull();
  expect(firstDifference(masked.model, await trainInOnePlace(job))).toBeNull();
  expect(masked.margins).toEqual(plain.margins);
  const splitsOf = (party: number): number => masked.passiveShares[party].splits.length;
  masked.seen.forEach(({ active, passive }, party) => {
    expect(passive.ledger).toEqual(active.ledger);
    expect(active.ledger.predictionOutcomes).toBe(0);
    expect(active.ledger.maskedScores).toBe(splitsOf(party) > 0 ? table.labels.length : 0);
    expect(plain.seen[party].active.ledger).toMatchObject({
      predictionOutcomes: table.labels.length * splitsOf(party),
      maskedScores: 0,
    });
  });
  expect(splitsOf(0)).toBeGreaterThan(0);
}

describe("test rows", () => {
  test.each(partOf(manyFeatures, 0, 3))("two passive parties: %s", async (_what, table, training) =>
    expectSame(table, training),
  );

  test.each(partOf([1, 3], 1, 2))("%i passive parties, missing values, five rounds of depth 4", async (parties) =>
    expectSame(
      randomTable(`masked ${parties}`, {
        rows: 90,
        features: [1, ...Array<number>(parties).fill(2)],
        missingFraction: 0.2,
      }),
      { num_round: 5, max_depth: 4 },
    ),
  );

  test("regression, with base score and leaf weights of all magnitudes", async () =>
    expectSame(randomTable("sizes", { rows: 80, features: [2, 2], regression: true }), {
      objective: "reg:squarederror",
      base_score: "auto",
      num_round: 6,
    }));

  test("after early stopping the splits of dropped trees count, and their products do not", async () => {
    const table: TestTable = {
      ...randomTable("stop", { rows: 120, features: [1, 2, 2], missingFraction: 0.1 }),
      validationRows: Uint32Array.from({ length: 40 }, (_, i) => 3 * i),
    };
    const job = { table, training: { num_round: 30, early_stopping_rounds: 2, eta: 1 }, kernel, key };
    const { model, grown } = await trainFederated({ ...job, defences });
    expect(model.trees.length).toBeLessThan(grown);
    expect(firstDifference(model, (await trainFederated(job)).model)).toBeNull();
  });
});

test.each<[string, Partial<TrainingParameters>, boolean]>([
  ["one output", {}, false],
  ["a tree per class", { objective: "multi:softprob", num_class: 3, max_depth: 2 }, true],
])("a start model's margins, %s", async (_what, training, hasClasses) => {
  const random = randomTable("start", { rows: 100, features: [2, 2, 2], missingFraction: 0.1 });
  const table = hasClasses ? { ...random, labels: random.labels.map((_, i) => i % 3) } : random;
  const first = await trainFederated({ table, training: { ...training, num_round: 3 }, kernel, key });
  const job = { table, training: { ...training, num_round: 2 }, kernel, key, start: first };
  const { model, seen, margins } = await trainFederated({ ...job, defences });
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  expect(margins).toEqual(predictMargins(model, table.parties, table.labels.length));
  for (const { active } of seen) expect(active.ledger.predictionOutcomes).toBe(0);
  expect(seen[0].active.ledger.maskedScores).toBe(2 * table.labels.length); // the start, and the rows at the end
});
