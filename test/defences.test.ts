/** A job that leaks, attacked; and the same job with each defence, where the same attack fails. */
import { beforeAll, expect, test } from "vitest";
import type { Defences } from "../src/base/parameters.ts";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import type { PartyExposure } from "../src/privacy/attack/audit-result.ts";
import { exposureOf } from "../src/privacy/attack/exposure.ts";
import { attackedJob } from "./support/attacked-job.ts";
import { type TestTable, trainFederated } from "./support/in-memory-job.ts";

const people = 2000;
const training = { num_round: 45, max_depth: 3, max_bin: 28, eta: 0.3 };

/** A bank's columns, and a shop's: one of 28 bins, one of a few values. */
const table: TestTable = (() => {
  const random = new SeededRandom("defences");
  const risk = Float64Array.from({ length: people }, () => random.normal());
  const column = (valueOf: (i: number) => number): Float32Array => Float32Array.from(risk, (_, i) => valueOf(i));
  return {
    labels: Float64Array.from(risk, (value) => (value + random.normal() > 1 ? 1 : 0)),
    parties: [
      [column((i) => risk[i] + 2 * random.normal()), column(() => random.normal())],
      [
        column((i) => Math.round(12 * (risk[i] + random.normal()))),
        column((i) => Math.max(-2, Math.round(risk[i] + random.normal()))),
      ],
    ],
  };
})();

async function exposed(defences: Partial<Defences>, milliseconds = 20_000): Promise<PartyExposure> {
  const { features, people: whom, transcript, recorder, noise } = await attackedJob(table, training, [], defences);
  const end = performance.now() + milliseconds;
  return exposureOf(
    {
      name: "shop",
      features,
      people: whom,
      transcript,
      splits: recorder.splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      noise,
      tellsScoring: defences.masked_scoring !== true,
    },
    { left: () => Math.max(0, end - performance.now()), progress: () => {} },
    1,
  );
}

let leaky: PartyExposure;
beforeAll(async () => {
  leaky = await exposed({});
});

test("without a defence nearly every bin is proven, and none is wrong", () => {
  expect(leaky.wrong).toBe(0);
  expect(leaky.certain.sums).toBeGreaterThan(0.9);
  expect(leaky.certain.outcomes).toBeLessThan(0.7);
});

test("answer_noise: sums prove nothing that outcomes have not told, and can tell little", async () => {
  const { wrong, certain, columns } = await exposed({ answer_noise: 10, min_people_share: 0.01 });
  expect(wrong).toBe(0);
  expect(certain.sums).toBe(certain.outcomes);
  for (const { sumsBound } of columns) {
    expect(sumsBound).not.toBeNull();
    expect(sumsBound ?? 1).toBeLessThan(0.3); // 0.18 sums per person: a job as small and long as few are
  }
});

test("min_people_share: a large share leaves little to take apart in a short job", async () => {
  const { wrong, columns, left } = await exposed({ min_people_share: 0.1 });
  expect(wrong).toBe(0);
  expect(leaky.columns[0].certain.sums).toBeGreaterThan(0.8);
  expect(columns[0].certain.sums).toBeLessThan(0.2);
  expect(left.sums).toBeGreaterThan(leaky.left.sums + 1);
});

test("max_thresholds: outcomes and scoring tell no more than so few pieces", async () => {
  const { wrong, bits, left, columns } = await exposed({ max_thresholds: 2, answer_noise: 10, min_people_share: 0.01 });
  expect(wrong).toBe(0);
  for (const column of columns) {
    // Two thresholds cut a column into three pieces.
    expect(column.bits - column.left.scoring).toBeLessThanOrEqual(Math.log2(3) + 1e-9);
    expect(column.bits - column.left.outcomes).toBeLessThanOrEqual(Math.log2(3) + 1e-9);
  }
  expect(bits - left.scoring).toBeLessThan(leaky.bits - leaky.left.scoring - 1);
});

test("masked_scoring: scoring tells nothing of a column", async () => {
  const { columns } = await exposed({ masked_scoring: true }, 100);
  for (const { bits, left, certain } of columns) {
    expect(left.scoring).toBeCloseTo(bits, 9);
    expect(certain.scoring).toBe(0);
  }
  for (const { certain } of leaky.columns) expect(certain.scoring).toBeGreaterThan(0.2);
});

test("guarded, between real roles: no count, no exact sum and no outcome of scoring is observed", async () => {
  const key = await generateKey({ bits: 256, insecure: true });
  const few = { ...table, labels: table.labels.slice(0, 300) };
  const small = { ...few, parties: table.parties.map((columns) => columns.map((column) => column.slice(0, 300))) };
  const look = (defences: Partial<Defences>) => {
    const seen = { counts: 0, exact: 0, rows: 0, predictions: 0 };
    const observed = (_peer: string, observation: { readonly kind: string }): void => {
      if (observation.kind === "prediction") seen.predictions++;
      if (observation.kind !== "sums") return;
      const { counts, rows, node } = observation as unknown as {
        counts: readonly number[];
        rows: Float64Array | null;
        node: number;
      };
      seen.counts += counts.filter((count) => count > 0).length;
      if (node !== 0 || rows === null) return;
      // In the first tree h is 1/4 of everybody: a sum of h that is a whole number of people is exact.
      const stride = rows.length / counts.length;
      counts.forEach((_, i) => {
        seen.rows++;
        if (rows[i * stride + 1] % 2 ** 24 === 0) seen.exact++;
      });
    };
    return {
      seen,
      job: { table: small, training: { num_round: 1 }, defences, kernel: selectKernel(), key, look: { observed } },
    };
  };
  const plain = look({});
  await trainFederated(plain.job);
  expect(plain.seen.counts).toBeGreaterThan(0);
  expect(plain.seen.exact).toBe(plain.seen.rows);
  const guarded = look({ answer_noise: 10, min_people_share: 0.01, max_thresholds: 3, masked_scoring: true });
  await trainFederated(guarded.job);
  expect(guarded.seen).toMatchObject({ counts: 0, predictions: 0 });
  expect(guarded.seen.exact).toBeLessThan(guarded.seen.rows / 4); // those that are withheld are 0
});
