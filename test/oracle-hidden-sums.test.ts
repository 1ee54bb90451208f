/**
 * Federated equals centralised where sums are hidden, bit for bit: candidates are compared on shares, by oblivious
 * transfer, and nothing but the best of each node is opened.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { selectKernel } from "../src/crypto/paillier/select-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { nodesMaxOf } from "./support/compared-nodes.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { randomTable, type TableShape } from "./support/tables.ts";

const small = { num_round: 2, max_depth: 2, max_bin: 4, min_child_weight: 0 };
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

function jobOf(shape: TableShape, { training, defences, codec, ...others }: Partial<TestJob> = {}): TestJob {
  return {
    table: randomTable(shape.features.join(), shape),
    kernel: selectKernel(),
    key,
    codec: { resolution_bits: 6, ...codec },
    training: { ...small, ...training },
    defences: { hidden_sums: true, ...defences },
    ...others,
  };
}

async function expectEqual(shape: TableShape, job: Partial<TestJob> = {}): Promise<TestOutcome> {
  const whole = jobOf(shape, job);
  const outcome = await trainFederated(whole);
  const owners = outcome.model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
  expect(Math.max(...owners), "no passive party split a node").toBeGreaterThan(0);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  return outcome;
}

test.each([
  ["Paillier", {}],
  ["lattice", { scheme: lattice }],
] as const)("%s: a candidate is named to its owner where it splits a node, and nowhere else", async (_name, scheme) => {
  const training = { num_round: 3, max_depth: 3 };
  const { model, seen } = await expectEqual({ rows: 90, features: [1, 2, 2] }, { ...scheme, training });
  const splits = model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
  let opened = 0;
  for (const [i, { active, passive }] of seen.entries()) {
    const own = splits.filter((owner) => owner === i + 1).length;
    expect(own).toBeGreaterThan(0);
    expect([passive.ledger.wins, active.ledger.wins]).toEqual([own, own]);
    opened += passive.ledger.bestCandidates;
  }
  expect(opened, "another party's candidate won somewhere").toBeGreaterThan(splits.filter((owner) => owner > 0).length);
});

describe("hidden sums with the lattice scheme", () => {
  test.each([1, 2])("%i passive parties, missing values", async (passives) => {
    const features = [1, ...Array<number>(passives).fill(1)];
    await expectEqual({ rows: 60, features, missingFraction: 0.1 }, { scheme: lattice });
  });

  test("minimums and few thresholds", async () => {
    await expectEqual(
      { rows: 80, features: [1, 2] },
      {
        scheme: lattice,
        minimums: [
          { perNode: 1, perCandidate: 1 },
          { perNode: 10, perCandidate: 8 },
        ],
        defences: { max_thresholds: 1, outcome_bits: 0.8 },
      },
    );
  });
});

describe("hidden sums with Paillier", () => {
  test.each([1, 2, 3])("%i passive parties, missing values", async (passives) => {
    const features = [1, ...Array<number>(passives).fill(1)];
    const { seen, model } = await expectEqual({ rows: 60, features, missingFraction: 0.1 });
    // One candidate of each node at most, and no sum besides.
    for (const { active, passive } of seen) {
      expect(active.ledger).toEqual(passive.ledger);
      expect(active.ledger.candidateSums).toBe(0);
      expect(active.ledger.candidateOrders).toBe(0);
      expect(active.ledger.bestCandidates).toBeGreaterThan(0);
      expect(active.ledger.bestCandidates).toBeLessThanOrEqual(nodesMaxOf(model));
    }
  });

  const cases: readonly [string, TableShape, Partial<TestJob>][] = [
    ["no lambda, a minimum", { rows: 60, features: [1, 2] }, { training: { lambda: 0, min_child_weight: 2 } }],
    ["ties", { rows: 40, features: [0, 2, 1], ties: true }, {}],
    ["an active party without columns", { rows: 40, features: [0, 2] }, {}],
    ["columns drawn for each node", { rows: 60, features: [1, 3] }, { training: { colsample_bynode: 0.6 } }],
    ["rows drawn for each tree", { rows: 80, features: [1, 2] }, { training: { subsample: 0.7 } }],
    [
      "lossguide",
      { rows: 60, features: [1, 2] },
      { training: { grow_policy: "lossguide", max_leaves: 4, max_depth: 0 } },
    ],
    ["one plaintext per slot", { rows: 60, features: [1, 2] }, { codec: { codec: "unbatched" } }],
    [
      "minimums, which withhold candidates at some nodes",
      { rows: 80, features: [1, 2] },
      {
        minimums: [
          { perNode: 1, perCandidate: 1 },
          { perNode: 10, perCandidate: 8 },
        ],
        training: { max_depth: 3 },
      },
    ],
    ["few bits", { rows: 60, features: [1, 2] }, { defences: { outcome_bits: 0.7 }, training: { num_round: 3 } }],
    ["few thresholds", { rows: 60, features: [1, 2] }, { defences: { max_thresholds: 1 }, training: { num_round: 3 } }],
    [
      "squared error, where the layout follows the data",
      { rows: 60, features: [1, 2], regression: true },
      { training: { objective: "reg:squarederror", base_score: 0 } },
    ],
  ];
  test.each(cases)("%s", async (_name, shape, job) => {
    await expectEqual(shape, job);
  });
});
