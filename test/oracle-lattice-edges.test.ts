/**
 * The main oracle with the lattice scheme, at boundaries: blocks of rows, bytes of bins, the range of gradients, rounds
 * and candidates; with both parameter sets. The two schemes train the same model.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { osRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { selectLatticeKernel } from "../src/crypto/lattice/select-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { LatticePassive } from "../src/scheme/lattice/passive.ts";
import type { Scheme } from "../src/scheme/scheme.ts";
import { partOf } from "./support/campaign.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** An active party that plans for so large a number of nodes that parameter set B is required. */
const inSetB: Scheme = {
  ...lattice,
  active: (...given) => {
    const active = lattice.active(...given);
    const setUp = active.setUp.bind(active);
    return Object.assign(active, { setUp: (job: Parameters<typeof setUp>[0]) => setUp({ ...job, nodesMax: 2 ** 40 }) });
  },
};

type Edge = Omit<TestJob, "kernel" | "key">;

async function expectEqual(job: Edge): Promise<TestJob> {
  const whole = { kernel: selectKernel(), key, scheme: lattice, ...job };
  const { model } = await trainFederated(whole);
  const passives = model.trees.flat().filter((node) => node.kind === "split" && node.rule.owner > 0);
  expect(passives.length, "no passive party has split anything").toBeGreaterThan(0);
  expect(firstDifference(model, await trainInOnePlace(whole))).toBeNull();
  return whole;
}

async function expectSameAsPaillier(job: Edge): Promise<void> {
  const { scheme: _, ...paillier } = await expectEqual(job);
  const [hidden, federated] = [await trainInOnePlace({ ...paillier, scheme: lattice }), await trainFederated(paillier)];
  expect(firstDifference(hidden, federated.model)).toBeNull();
}

const classes: TestTable = {
  ...randomTable("classes at the edge", { rows: 60, features: [1, 2, 1], missingFraction: 0.1 }),
  labels: Float64Array.from({ length: 60 }, (_, i) => (i * 7) % 3),
};
const softprob = { objective: "multi:softprob", num_class: 3, num_round: 2 } as const;
const numbers = randomTable("numbers", { rows: 60, features: [1, 2], regression: true });
const plain = randomTable("plain at the edge", { rows: 60, features: [1, 2, 1], missingFraction: 0.1 });

function withLabels(table: TestTable, label: (value: number, row: number) => number): TestTable {
  return { ...table, labels: table.labels.map(label) };
}

/** As many different values as rows in the first column. */
function manyBins(missingEvery: number): TestTable {
  const rows = 600;
  const value = (i: number): number => (i % missingEvery === 0 ? Number.NaN : (i * 7919) % rows);
  return {
    labels: Float64Array.from({ length: rows }, (_, i) => ((i * 7919) % rows > 300 !== (i % 11 === 0) ? 1 : 0)),
    parties: [
      [],
      [Float32Array.from({ length: rows }, (_, i) => value(i)), Float32Array.from(Array(rows), (_, i) => i % 5)],
    ],
  };
}

describe("as Paillier does, at equal resolution_bits", () => {
  const squared = { objective: "reg:squarederror", lambda: 0 } as const;
  test.each<[string, Edge]>([
    ["4 bits", { table: plain, codec: { resolution_bits: 4 } }],
    ["13 bits", { table: plain, codec: { resolution_bits: 13 } }],
    ["24 bits, in set B", { table: plain, scheme: inSetB, codec: { resolution_bits: 24 } }],
    ["labels of 10^30", { table: withLabels(numbers, (value) => value * 1e30), training: squared }],
    [
      "one label of 10^12",
      { table: withLabels(numbers, (value, row) => (row === 5 ? 1e12 : value)), training: squared },
    ],
    [
      "half of the weights 0, others 1,000",
      { table: { ...plain, columns: { weight: plain.labels.map((_, i) => (i % 2) * 1000) } } },
    ],
    ["siblings are derived even without subtraction", { table: plain, shortcuts: { subtraction: false } }],
    ["a tree per class", { table: classes, training: softprob }],
    [
      "trees of all classes, in set B",
      { table: classes, scheme: inSetB, training: { ...softprob, multi_strategy: "multi_output_tree" } },
    ],
    [
      "early stopping",
      {
        table: { ...plain, validationRows: Uint32Array.from({ length: 20 }, (_, i) => 3 * i) },
        training: { num_round: 8, early_stopping_rounds: 1, eta: 1 },
      },
    ],
    [
      "leaf by leaf, columns per node",
      {
        table: plain,
        training: { grow_policy: "lossguide", max_leaves: 7, max_depth: 4, colsample_bynode: 0.6 },
      },
    ],
  ])("%s", (_name, job) => expectSameAsPaillier(job));
});

describe("federated equals centralised", () => {
  test.each<[number, Scheme]>([
    [4095, lattice],
    [4096, lattice],
    [4097, lattice],
    [8193, lattice],
    [8191, inSetB],
    [8192, inSetB],
    [8193, inSetB],
  ])("%i rows around the end of a block", async (rows, scheme) => {
    const table = randomTable("block", { rows, features: [1, 2] });
    await expectEqual({ table, scheme, training: { num_round: 1, max_bin: 6, max_depth: 2 } });
  });

  test("a node of several messages, at two parties of which one is not asked about small nodes", async () => {
    const table = randomTable("messages", { rows: 45_000, features: [0, 1, 1] });
    const minimums = [1, 1, 22_000].map((perNode) => ({ perNode, perCandidate: 1 }));
    await expectEqual({ table, minimums, training: { num_round: 1, max_bin: 4, max_depth: 2 } });
  });

  const binCounts = [
    [255, 13],
    [256, Infinity],
    [256, 13],
    [257, Infinity],
  ];
  test.each(partOf(binCounts, 0, 3))(
    "%i bins, one byte or two, with a missing value every %d rows",
    async (max_bin, missingEvery) => {
      await expectEqual({ table: manyBins(missingEvery), training: { max_bin, num_round: 1, max_depth: 2 } });
    },
  );

  test.each(
    partOf(
      manyFeatures.filter((_, i) => i !== 1),
      0,
      2,
    ),
  )("in set B, with noise: %s", async (_name, table, training) => {
    await expectEqual({ table, training, scheme: inSetB, defences: { answer_noise: 0.1 } });
  });

  test.each(
    partOf(
      manyFeatures.filter((_, i) => i === 0 || i > 2),
      0,
      2,
    ),
  )("answers in many pieces: %s", async (_name, table, training) => {
    const passiveScheme = (): LatticePassive =>
      new LatticePassive(selectLatticeKernel(), 1, osRandom.fill(new Uint8Array(32)), { pieceBytes: 100 });
    const minimums = table.parties.map((_, party) => ({ perNode: 1, perCandidate: party === 0 ? 1 : 9 }));
    await expectEqual({ table, training, passiveScheme, minimums });
  });

  test("a party without features, one without candidates, and one with missing values only", async () => {
    const table = randomTable("nothing", { rows: 60, features: [1, 0, 1, 1, 2] });
    table.parties[2][0].fill(2);
    table.parties[3][0].fill(Number.NaN);
    await expectEqual({ table });
    await expectEqual({ table, scheme: inSetB });
  });

  test("two rows; three, of which one misses its value", async () => {
    await expectEqual({ table: { labels: Float64Array.of(0, 1), parties: [[], [Float32Array.of(1, 2)]] } });
    const column = Float32Array.of(1, Number.NaN, 2);
    await expectEqual({ table: { labels: Float64Array.of(0, 1, 1), parties: [[], [column]] }, scheme: inSetB });
  });

  test("no party answers: local rounds, no features, one row, or constant labels", async () => {
    const jobs: Edge[] = [
      { table: plain, training: { local_rounds: 3 } },
      { table: randomTable("alone", { rows: 60, features: [2, 0] }) },
      {
        table: { labels: Float64Array.of(1), parties: [[], [Float32Array.of(1)]] },
        training: { objective: "reg:squarederror" },
      },
      { table: withLabels(numbers, () => 3), training: { objective: "reg:squarederror" } },
    ];
    for (const job of jobs) {
      const whole = { kernel: selectKernel(), key, scheme: lattice, ...job };
      expect(firstDifference((await trainFederated(whole)).model, await trainInOnePlace(whole))).toBeNull();
    }
  });
});
