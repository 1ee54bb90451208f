/**
 * The oracle of test/oracle.test.ts where passive parties suppress candidates with few instances, or beyond the job's
 * limits of what splits reveal: federated equals centralised, node for node, and no limit is exceeded.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Defences } from "../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { noMinimums } from "../src/gbdt/split/offered-candidates.ts";
import { columnTest } from "../src/gbdt/split/split-test.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { isCampaign, partOf } from "./support/campaign.ts";
import { type TestJob, type TestOutcome, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 128, insecure: true });
});

const choices: readonly Partial<Defences>[] = [
  { min_people_share: 0.02 },
  { min_people_share: 0.1 },
  { max_thresholds: 1 },
  { max_thresholds: 3 },
  { min_people_share: 0.06, max_thresholds: 3 },
  { outcome_bits: 0.7 },
  { outcome_bits: 1.2, min_people_share: 0.06 },
];

/** The distinct thresholds or category sets of the model, per passive party and feature. */
function thresholdsOf({ passiveShares }: Pick<TestOutcome, "passiveShares">): number[] {
  const byFeature = new Map<string, Set<string>>();
  for (const { name, splits } of passiveShares)
    for (const { featureName, threshold, categories } of splits) {
      const of = `${name}/${featureName}`;
      byFeature.set(of, (byFeature.get(of) ?? new Set()).add(JSON.stringify(threshold ?? categories)));
    }
  return Array.from(byFeature.values(), ({ size }) => size);
}

/** The entropy of what the splits of a passive party reveal of its columns: of the bins of a column, per person. */
function bitsOf({ table }: TestJob, { passiveShares }: Pick<TestOutcome, "passiveShares">): number {
  const averages = passiveShares.map(({ splits }, i) => {
    const columns = table.parties[i + 1];
    const rows = [...columns[0].keys()].filter((row) => table.validationRows?.includes(row) !== true);
    const entropies = columns.map((column, feature) => {
      const tests = splits
        .filter((split) => split.feature === feature)
        .map((split) => columnTest(split, table.categories?.[i + 1][feature] ?? null));
      const counts = new Map<string, number>();
      for (const row of rows) {
        const sides = tests.map((goesLeft) => (goesLeft(column[row]) ? "l" : "r")).join("");
        counts.set(sides, (counts.get(sides) ?? 0) + 1);
      }
      return [...counts.values()].reduce((sum, n) => sum - (n / rows.length) * Math.log2(n / rows.length), 0);
    });
    return entropies.reduce((a, b) => a + b, 0) / columns.length;
  });
  return Math.max(...averages);
}

const largest = (counts: readonly number[]): number => Math.max(0, ...counts);

/** @returns whether the defences have changed the model, and the most thresholds of a feature */
async function expectEqual(job: TestJob): Promise<{ changed: boolean; most: number; outcome: TestOutcome }> {
  const outcome = await trainFederated(job);
  const centralised = await trainInOnePlace(job);
  expect(firstDifference(outcome.model, centralised)).toBeNull();
  for (const { active, passive } of outcome.seen) expect(active.ledger).toEqual(passive.ledger);
  const most = largest(thresholdsOf(outcome));
  const limit = job.defences?.max_thresholds ?? 0;
  if (limit > 0) expect(most).toBeLessThanOrEqual(limit);
  const bits = job.defences?.outcome_bits ?? 0;
  if (bits > 0 && job.start === undefined) expect(bitsOf(job, outcome)).toBeLessThanOrEqual(bits + 1e-3);
  const exact = await trainInOnePlace({ ...job, defences: {} });
  return { changed: firstDifference(centralised, exact) !== null, most, outcome };
}

describe.each(choices)("%o", (defences) => {
  test("jobs that take many features at once", async () => {
    let [changes, most] = [0, 0];
    for (const [, table, training] of partOf(manyFeatures, choices.indexOf(defences), 3)) {
      const { changed, most: ofJob } = await expectEqual({ table, training, defences, kernel, key });
      changes += changed ? 1 : 0;
      most = Math.max(most, ofJob);
    }
    expect(changes, "nothing was suppressed, nothing was tested").toBeGreaterThan(0);
    if (defences.max_thresholds !== undefined && defences.min_people_share === undefined)
      expect(most).toBe(defences.max_thresholds);
  });

  const shape = { rows: 90, features: [1, 2, 2], missingFraction: 0.15 };
  const table = randomTable("offers", shape);
  const classes = { ...table, labels: table.labels.map((label, i) => label + (i % 3 === 0 ? 1 : 0)) };
  const categories = categoricalTable(3, {
    rows: 120,
    features: [1, 1, 1],
    categories: [[], [3, 9], [7, 2]],
    missingFraction: 0.1,
  });
  const long = { num_round: 6, max_depth: 4 };
  const ofChoice = <T>(cases: readonly T[]): readonly T[] => partOf(cases, choices.indexOf(defences), 5);
  const jobs: readonly [string, Partial<TrainingParameters>, Partial<TestJob>][] = [
    ["level by level", long, {}],
    ["leaf by leaf", { ...long, grow_policy: "lossguide", max_leaves: 9 }, {}],
    ["no subtraction", long, { shortcuts: { subtraction: false } }],
    ["columns by node", { ...long, colsample_bynode: 0.5, subsample: 0.7 }, {}],
    ["columns by tree", { ...long, colsample_bytree: 0.5 }, {}],
    [
      "minimums of the owner's own too",
      long,
      { minimums: [noMinimums, { perNode: 8, perCandidate: 4 }, { perNode: 1, perCandidate: 12 }] },
    ],
    ["a tree per class", { ...long, num_round: 2, objective: "multi:softprob", num_class: 3 }, { table: classes }],
    ["categories, one by one and in sets", { ...long, enable_categorical: true }, { table: categories }],
    ["local rounds", { ...long, local_rounds: 2 }, {}],
  ];
  test.each(ofChoice(jobs))("%s", async (_name, training, rest) => {
    const { changed } = await expectEqual({ table, training, defences, kernel, key, ...rest });
    expect(changed).toBe(true);
  });

  const isFor = (part: number): boolean => isCampaign || choices.indexOf(defences) % 2 === part;
  test.runIf(isFor(0))(
    "validation rows do not count for minimums; thresholds of dropped rounds stay used",
    async () => {
      const validationRows = Uint32Array.from({ length: 40 }, (_, i) => 3 * i);
      await expectEqual({
        table: { ...randomTable("validated", { ...shape, rows: 120 }), validationRows },
        training: { ...long, num_round: 12, eta: 1, early_stopping_rounds: 2 },
        defences,
        kernel,
        key,
      });
    },
  );

  test.runIf(isFor(1))("a warm start: thresholds of the first model stay used", async () => {
    const job = { table: randomTable("warm", shape), training: { num_round: 3 }, defences, kernel, key };
    const { outcome } = await expectEqual(job);
    await expectEqual({ ...job, start: outcome });
    // A start model without limits may have used more thresholds than the job allows.
    const free = await trainFederated({ ...job, defences: {} });
    const next = { ...job, start: free };
    const federated = await trainFederated(next);
    expect(firstDifference(federated.model, await trainInOnePlace(next))).toBeNull();
    const limit = defences.max_thresholds ?? Infinity;
    expect(largest(thresholdsOf(federated))).toBeLessThanOrEqual(Math.max(limit, largest(thresholdsOf(free))));
  });
});

test("trees of one round: thresholds that the first tree uses are not available at the second one's root", async () => {
  const column = Float32Array.from({ length: 90 }, (_, i) => i % 9);
  const table = {
    labels: Float64Array.from(column, (x) => Math.floor(x / 3)),
    parties: [[Float32Array.from(column, (_, i) => i % 7)], [column]],
  };
  const training = { objective: "multi:softprob", num_class: 3, num_round: 2, max_depth: 2 } as const;
  const { most } = await expectEqual({ table, training, defences: { max_thresholds: 1 }, kernel, key });
  expect(most).toBe(1);
});
