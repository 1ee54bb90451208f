/**
 * The system's main oracle: federated training equals centralised training on the same quantised gradients, node for
 * node and bit for bit, whatever the codec, layout, kernel, number of parties, missing values and ties.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type Kernel, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { loadNativeKernel } from "../src/crypto/paillier/native-kernel.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import type { Shortcuts } from "../src/scheme/shortcuts.ts";
import { partOf, seedCount } from "./support/campaign.ts";
import { trainFederated, trainInOnePlace, type TestJob } from "./support/in-memory-job.ts";
import { randomTable, type TableShape } from "./support/tables.ts";

const native = loadNativeKernel().kernel;
if (native === undefined) console.warn("oracle: no native kernel on this machine; only the portable one is tested");
const kernels: Kernel[] = native === undefined ? [portableKernel] : [native, portableKernel];

/** The portable kernel is slow and gets one seed. Ties depend on the draw, so they get more. */
const seedsFor = (kernel: Kernel, ties: boolean): number =>
  kernel === portableKernel ? 1 : seedCount(ties ? { test: 2, campaign: 10 } : { test: 1, campaign: 5 });

async function expectEqual(job: TestJob, note: string): Promise<void> {
  const { model } = await trainFederated(job);
  const splits = model.trees.flat().filter((node) => node.kind === "split");
  expect(splits.length, `${note}: nothing was split, nothing was tested`).toBeGreaterThan(0);
  expect(firstDifference(model, await trainInOnePlace(job)), note).toBeNull();
}

describe.each(kernels.map((kernel) => ({ kernel, name: kernel.name })))(
  "federated equals centralised, $name kernel",
  ({ kernel }) => {
    let key: PrivateKey;
    beforeAll(async () => {
      key = await generateKey({ bits: kernel === portableKernel ? 128 : 256, insecure: true });
    });

    const expectEverySeed = async (shape: TableShape, job: Partial<TestJob>): Promise<void> => {
      for (let seed = 0; seed < seedsFor(kernel, shape.ties === true); seed++) {
        await expectEqual(
          { table: randomTable(`${seed}-${shape.features.join()}`, shape), kernel, key, ...job },
          `seed ${seed}`,
        );
      }
    };

    /** By default every case runs with one of the kernels. */
    const ofKernel = <T>(cases: readonly T[]): readonly T[] => partOf(cases, kernels.indexOf(kernel), kernels.length);

    const shapes = (["batched", "unbatched"] as const).flatMap((codec) =>
      [0, 0.2].flatMap((missingFraction) => [1, 2, 4].map((passives) => ({ passives, codec, missingFraction }))),
    );
    test.each(ofKernel(shapes))(
      "$passives passive parties, $codec, missing fraction $missingFraction",
      ({ passives, codec, missingFraction }) =>
        expectEverySeed({ rows: 90, features: Array(1 + passives).fill(2), missingFraction }, { codec: { codec } }),
    );

    test.each([0, 0.3])(
      "ties on purpose (few levels, a column that every party holds), missing fraction %d",
      (missingFraction) => expectEverySeed({ rows: 60, features: [1, 2, 2], ties: true, missingFraction }, {}),
    );

    test("an active party without features; passives with one bin, one row a bin, or only missing values", async () => {
      const table = randomTable("odd", { rows: 50, features: [0, 3, 1] });
      table.parties[1][1].fill(4);
      table.parties[1][2].fill(Number.NaN);
      await expectEqual({ table, kernel, key, training: { max_bin: 64 } }, "odd columns");
    });

    test.each(ofKernel([1, 2, 4]))("the paper's layout, padding %d", (padding) =>
      expectEverySeed({ rows: 80, features: [1, 2], missingFraction: 0.1 }, { codec: { layout: "paper", padding } }),
    );

    test("squared error, where the layout follows the data", () =>
      expectEverySeed(
        { rows: 70, features: [1, 2, 1], regression: true, missingFraction: 0.1 },
        { training: { objective: "reg:squarederror", base_score: 0 } },
      ));

    const parameters = [
      { gamma: 0.5, min_child_weight: 1 },
      { lambda: 0, eta: 1, max_depth: 5 },
      { max_depth: 1, num_round: 6, base_score: 0.3 },
      { max_bin: 2 },
    ];
    test.each(ofKernel(parameters))("parameters %o", (training) =>
      expectEverySeed({ rows: 80, features: [2, 2], missingFraction: 0.1 }, { training }),
    );

    const ablations: readonly Partial<Shortcuts>[] = [
      { packing: false },
      { subtraction: false },
      { jointBins: false },
      { skipBin: false },
      { ownerEncryption: false },
    ];
    test.each(ofKernel(ablations))("with %o", (shortcuts) =>
      expectEverySeed(
        { rows: 70, features: [1, 2, 2], missingFraction: 0.1 },
        { shortcuts, codec: { codec: "ownerEncryption" in shortcuts ? "batched" : "unbatched" } },
      ),
    );

    test.each(ofKernel([128, 512, 1024]))("a key of %d bits", async (bits) => {
      const other = await generateKey({ bits, insecure: true });
      await expectEqual(
        {
          table: randomTable("key", { rows: 40, features: [1, 2], missingFraction: 0.1 }),
          kernel,
          key: other,
          training: { num_round: 1 },
        },
        "key",
      );
    });
  },
);

describe("every native kernel", () => {
  const others = [...loadNativeKernel().kernels.values()].filter((kernel) => kernel.name !== kernels[0].name);
  test.each(["batched", "unbatched"] as const)("trains the centralised model, %s", async (codec) => {
    const key = await generateKey({ bits: 256, insecure: true });
    const table = randomTable("kernels", { rows: 60, features: [1, 2, 1], missingFraction: 0.1 });
    for (const kernel of [kernels[0], ...others])
      await expectEqual({ table, kernel, key, codec: { codec }, training: { num_round: 2 } }, kernel.name);
  });
});

describe("minimums of passive parties", () => {
  let key: PrivateKey;
  beforeAll(async () => {
    key = await generateKey({ bits: 256, insecure: true });
  });
  const none = { perNode: 1, perCandidate: 1 };
  const perCandidate = (count: number): NonNullable<TestJob["minimums"]> => [
    none,
    { perNode: 1, perCandidate: count },
    { perNode: 1, perCandidate: count },
  ];
  const perNode = (count: number): NonNullable<TestJob["minimums"]> => [
    none,
    { perNode: count, perCandidate: 1 },
    { perNode: count, perCandidate: 1 },
  ];
  const apart = [none, { perNode: 12, perCandidate: 4 }, { perNode: 5, perCandidate: 9 }];

  /** Equal for some seeds, and different from the same job without minimums, or these were not tested. */
  const expectKept = async (
    shape: TableShape,
    job: Pick<TestJob, "training" | "shortcuts" | "minimums">,
  ): Promise<void> => {
    let changed = 0;
    for (let seed = 0; seed < seedCount({ test: 1, campaign: 2 }); seed++) {
      const whole = { table: randomTable(`minimums ${seed}`, shape), kernel: kernels[0], key, ...job };
      await expectEqual(whole, `seed ${seed}`);
      if (firstDifference(await trainInOnePlace(whole), await trainInOnePlace({ ...whole, minimums: [] })) !== null)
        changed++;
    }
    expect(changed).toBeGreaterThan(0);
  };

  const kinds = [
    { name: "2 per candidate", minimums: perCandidate(2) },
    { name: "8 per candidate", minimums: perCandidate(8) },
    { name: "20 per node", minimums: perNode(20) },
    { name: "another for each party", minimums: apart },
  ];
  const growths = (["depthwise", "lossguide"] as const).flatMap((grow_policy) =>
    [true, false].map((subtraction) => ({ grow_policy, subtraction })),
  );
  const grid = [
    [2, 3],
    [1, 2, 2],
  ].flatMap((features) => growths.flatMap((growth) => kinds.map((kind) => ({ features, ...growth, ...kind }))));
  // Five has no factor in common with the sizes of the grid: every value of everything is among the cases.
  test.each(partOf(grid, 0, 5))(
    "features $features, $grow_policy, subtraction $subtraction: $name",
    ({ features, grow_policy, subtraction, minimums }) =>
      expectKept(
        { rows: 120, features, missingFraction: 0.15 },
        {
          training: { max_depth: 4, grow_policy, max_leaves: grow_policy === "lossguide" ? 9 : 0 },
          shortcuts: { subtraction },
          minimums,
        },
      ),
  );

  test.each([
    { subsample: 0.4 },
    { colsample_bytree: 0.6, num_round: 5 },
    { colsample_bylevel: 0.5, num_round: 4 },
    { colsample_bynode: 0.5, num_round: 4 },
    { colsample_bynode: 0.5, subsample: 0.6, grow_policy: "lossguide" as const, max_leaves: 8, max_depth: 5 },
    { objective: "multi:softprob" as const, num_class: 2, num_round: 2 },
  ])("%o", (training) =>
    expectKept(
      { rows: 200, features: [2, 4, 3], missingFraction: 0.1 },
      { training: { max_depth: 4, ...training }, minimums: apart },
    ),
  );

  test("no side of a split is below its party's minimum; a minimum above the row count allows no split", async () => {
    const table = randomTable("kept", { rows: 150, features: [1, 2, 2], missingFraction: 0.1 });
    const { model } = await trainFederated({
      table,
      kernel: kernels[0],
      key,
      training: { max_depth: 5 },
      minimums: perCandidate(15),
    });
    const small = (owner: boolean): number =>
      model.trees.flatMap((tree) =>
        tree.filter(
          (node) =>
            node.kind === "split" &&
            node.rule.owner > 0 === owner &&
            Math.min(tree[node.left].count, tree[node.right].count) < 15,
        ),
      ).length;
    expect(small(true)).toBe(0);
    expect(small(false)).toBeGreaterThan(0); // the active party's own are not bound
    const alone = await trainFederated({ table, kernel: kernels[0], key, minimums: perNode(151) });
    expect(alone.passiveShares.flatMap(({ splits }) => splits)).toEqual([]);
    await expectEqual({ table, kernel: kernels[0], key, minimums: perNode(151) }, "nothing offered");
  });

  test("minimums of 1 send not a byte more, and train the same model", async () => {
    const job = {
      table: randomTable("off", { rows: 90, features: [1, 2], missingFraction: 0.1 }),
      kernel: kernels[0],
      key,
    };
    const [left, given] = [await trainFederated(job), await trainFederated({ ...job, minimums: [none, none] })];
    expect(given.traffic).toEqual(left.traffic);
    expect(firstDifference(given.model, left.model)).toBeNull();
  });
});

describe("many instances", () => {
  test("the root is summed in several pieces while gradients arrive; the last piece may be short", async () => {
    const key = await generateKey({ bits: 128, insecure: true });
    for (const rows of [8192, 9000, 16_500]) {
      await expectEqual(
        {
          table: randomTable("many", { rows, features: [1, 2], missingFraction: 0.1 }),
          kernel: kernels[0],
          key,
          training: { num_round: 1 },
        },
        `${rows} rows`,
      );
    }
  });
});

describe("grids finer than one double can sum", () => {
  test.each(["batched", "unbatched"] as const)("sums reach 2^53 and are taken in limbs, %s", async (codec) => {
    const key = await generateKey({ bits: 256, insecure: true });
    const table = (rows: number): TestJob["table"] =>
      randomTable("fine", { rows, features: [1, 2, 2], missingFraction: 0.1 });
    const jobs: readonly Pick<TestJob, "table" | "training">[] = [
      { table: table(1200) },
      {
        table: { ...table(90), monotone: [[1], [0, -1], [0, 0]] },
        training: { alpha: 0.1, grow_policy: "lossguide", max_leaves: 6 },
      },
      { table: table(90), training: { objective: "multi:softprob", num_class: 2 } },
    ];
    for (const [index, job] of jobs.entries()) {
      await expectEqual(
        { ...job, kernel: kernels[0], key, codec: { codec, resolution_bits: 44, padding: 12 } },
        `job ${index}`,
      );
    }
  });
});

describe("what batching saves", () => {
  test("exactly half the encryptions and gradient ciphertexts; the same model", async () => {
    const key = await generateKey({ bits: 512, insecure: true });
    const table = randomTable("half", { rows: 64, features: [1, 2, 2] });
    const batched = await trainFederated({ table, kernel: kernels[0], key });
    const unbatched = await trainFederated({ table, kernel: kernels[0], key, codec: { codec: "unbatched" } });
    expect(firstDifference(batched.model, unbatched.model)).toBeNull();
    expect(batched.activeCounts.encryptions).toBe(64 * 3);
    expect(batched.activeCounts.gradientCiphertexts).toBe(64 * 3 * 2);
    expect(unbatched.activeCounts.encryptions).toBe(2 * batched.activeCounts.encryptions);
    expect(unbatched.activeCounts.gradientCiphertexts).toBe(2 * batched.activeCounts.gradientCiphertexts);
    const received = (outcome: typeof batched): number =>
      outcome.passiveCounts.reduce((sum, counts) => sum + counts.gradientCiphertexts, 0);
    expect(received(unbatched)).toBe(2 * received(batched));
    expect(received(batched)).toBe(batched.activeCounts.gradientCiphertexts);
  });
});

describe("the oracle can fail", () => {
  test("another quantisation or another order of parties is noticed", async () => {
    const key = await generateKey({ bits: 256, insecure: true });
    const table = randomTable("fails", { rows: 90, features: [2, 2] });
    const { model } = await trainFederated({ table, kernel: kernels[0], key });
    expect(firstDifference(model, await trainInOnePlace({ table, key, codec: { resolution_bits: 8 } }))).toMatch(
      /tree \d/,
    );
    const swapped = { ...table, parties: [table.parties[1], table.parties[0]] };
    expect(firstDifference(model, await trainInOnePlace({ table: swapped, key }))).not.toBeNull();
  });
});
