/** The attacks on small jobs of many kinds: everything they prove is true. */
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { Minimums } from "../../gbdt/split/offered-candidates.ts";
import { attackedJob, type AttackedJob } from "../../../test/support/attacked-job.ts";
import { categoricalTable } from "../../../test/support/categorical-tables.ts";
import type { PartyExposure } from "./audit-result.ts";
import { withDrawnGradients } from "./drawn-gradients.ts";
import { membershipFacts } from "../../base/membership.ts";
import { exposureOf } from "./exposure.ts";
import type { Transcript } from "./transcript.ts";
import type { AttackClock } from "./sums.ts";
import { familiesOf } from "./linkage.ts";
import { linkRows } from "./linked-rows.ts";
import { partOf, seedCount } from "../../../test/support/campaign.ts";
import { familyTask } from "./parts.ts";
import { nativePeel, peelEnd, peelGround } from "./peel.ts";
import { peelPortably } from "./peel-portable.ts";
import { type TestTable } from "../../../test/world/simulated.ts";

/** Correlated columns of different kinds, as in a bank's table: thresholds of two may be nearly nested. */
function creditTable(seed: number, rows: number, missingFraction = 0): TestTable {
  const random = new SeededRandom(`credit/${seed}`);
  const risk = Float64Array.from({ length: rows }, () => random.normal());
  const column = (valueOf: (i: number) => number): Float32Array =>
    Float32Array.from(risk, (_, i) => (random.uniform() < missingFraction ? NaN : valueOf(i)));
  const late = Float64Array.from(risk, (value) => Math.max(-2, Math.round(value + random.normal())));
  const labels = Float64Array.from(risk, (value) => (value + random.normal() > 1 ? 1 : 0));
  return {
    labels,
    parties: [
      [column((i) => risk[i] + 2 * random.normal()), column(() => random.normal()), column((i) => late[i] ** 2)],
      [
        column((i) => Math.round(12 * (risk[i] + random.normal()))),
        column((i) => Math.round(15 * Math.exp(random.normal() - 0.3 * risk[i]))),
        column((i) => late[i]),
        column((i) => (random.uniform() < 0.8 ? late[i] : late[i] + Math.round(random.normal()))),
        column((i) => (risk[i] + random.normal() > 0.3 ? 1 : 0)),
      ],
    ],
  };
}

/** A deadline in CPU time. */
function clock(milliseconds: number): AttackClock {
  const start = process.cpuUsage();
  const spent = (): number => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  return { left: () => Math.max(0, milliseconds - spent()), progress() {} };
}

async function exposed(job: AttackedJob, milliseconds = 1_000): Promise<PartyExposure> {
  const { features, people, transcript, recorder } = job;
  return exposureOf(
    {
      name: "passive",
      features,
      instances: people,
      transcript,
      splits: recorder.splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      noise: null,
      tellsScoring: true,
      membership: recorder.party.membership ?? membershipFacts.sent,
    },
    clock(milliseconds),
    1,
  );
}

describe("every certain bin is the true one", () => {
  type Kind = [string, (seed: number) => TestTable, Partial<TrainingParameters>, Minimums[]];
  const off: Minimums[] = [];
  const kinds: Kind[] = [
    ["numbers", (seed) => creditTable(seed, 300), { num_round: 12 }, off],
    ["missing values", (seed) => creditTable(seed, 300, 0.1), { num_round: 12 }, off],
    ["mostly missing", (seed) => creditTable(seed, 300, 0.6), { num_round: 12, max_bin: 6 }, off],
    ["few trees", (seed) => creditTable(seed, 400), { num_round: 3, max_depth: 4 }, off],
    ["squared error", (seed) => creditTable(seed, 200), { num_round: 10, objective: "reg:squarederror" }, off],
    ["sampled rows", (seed) => creditTable(seed, 200), { num_round: 8, subsample: 0.5 }, off],
    ["sampled columns", (seed) => creditTable(seed, 200), { num_round: 8, colsample_bytree: 0.5 }, off],
    [
      "suppressed candidates",
      (seed) => creditTable(seed, 300),
      { num_round: 10 },
      [
        { perNode: 1, perCandidate: 1 },
        { perNode: 1, perCandidate: 8 },
      ],
    ],
    [
      "categories, alone and in sets",
      (seed) =>
        categoricalTable(seed, { rows: 200, features: [2, 2], categories: [[3], [3, 9]], missingFraction: 0.1 }),
      { enable_categorical: true, num_round: 10 },
      off,
    ],
    [
      "several outputs",
      (seed) => {
        const table = creditTable(seed, 200);
        return { ...table, labels: table.labels.map((label, i) => label + (i % 3 === 0 ? 1 : 0)) };
      },
      { objective: "multi:softprob", num_class: 3, num_round: 4 },
      off,
    ],
  ];
  test.each(partOf(kinds, 0, 2))("%s", async (_, tableOf, training, minimums) => {
    let found = 0;
    for (let seed = 0; seed < seedCount({ test: 1, campaign: 4 }); seed++) {
      const exposure = await exposed(await attackedJob(tableOf(seed), { max_bin: 12, ...training }, minimums));
      expect(exposure.wrong, `seed ${seed}`).toBe(0);
      expect(exposure.linked).toBeLessThanOrEqual(exposure.candidates);
      found += exposure.certain.sums;
    }
    expect(found).toBeGreaterThan(0);
  });

  // Sums are linked even with row sampling, and outcomes cover every instance.
  const ofHidden = ["numbers", "missing values", "sampled rows", "categories, alone and in sets"];
  test.each(kinds.filter(([name]) => ofHidden.includes(name)))("members hidden: %s", async (_, tableOf, training) => {
    const job = await attackedJob(tableOf(1), { max_bin: 12, ...training }, [], {}, "hidden");
    const exposure = await exposed(job, 200);
    expect(exposure.wrong).toBe(0);
    expect(exposure.left.outcomes).toBe(exposure.left.scoring);
    expect(exposure.certain.sums).toBeGreaterThan(exposure.certain.outcomes);
    expect(exposure.linked).toBeGreaterThan(0);
  });
});

test("a short job over few instances reveals most of a column of 28 bins", async () => {
  const job = await attackedJob(creditTable(1, 2000), { num_round: 30, max_depth: 3, max_bin: 28, eta: 0.3 });
  const { columns, wrong } = await exposed(job, 60_000);
  expect(wrong).toBe(0);
  expect(columns[0].bins).toBe(28);
  expect(columns[0].certain.sums).toBeGreaterThan(0.9);
  expect(columns[0].certain.outcomes).toBeLessThan(0.3);
});

test("gradients drawn at random give an upper estimate of what true ones reveal", async () => {
  const job = await attackedJob(creditTable(1, 300), { num_round: 10, max_bin: 12 });
  const { recorder, transcript, people } = job;
  const depthOf = (nodes: readonly { id: number; parent: number }[], id: number): number => {
    const parent = nodes.find((node) => node.id === id)?.parent ?? -1;
    return parent < 0 ? 0 : 1 + depthOf(nodes, parent);
  };
  const recorded = transcript.trees.map(({ tree, nodes }) => ({
    tree,
    round: tree,
    nodes: nodes.map((node) => ({ ...node, depth: depthOf(nodes, node.id) })),
  }));
  const drawn = withDrawnGradients(recorder.party, people.length, recorded, transcript.job, 1);
  const counts = ({ trees }: Transcript): number[] =>
    trees.flatMap(({ nodes }) => nodes.flatMap(({ rows }) => Array.from(rows).filter((_, i) => i % 3 === 2)));
  expect(counts(drawn)).toEqual(counts(transcript));
  const [real, estimated] = [await exposed(job, 5_000), await exposed({ ...job, transcript: drawn }, 5_000)];
  expect(estimated.wrong).toBe(0);
  expect(estimated.certain.outcomes).toBe(real.certain.outcomes);
  expect(real.certain.sums).toBeGreaterThan(real.certain.outcomes + 0.1);
  expect(estimated.certain.sums).toBeGreaterThan(real.certain.sums - 0.02);
});

test.skipIf(nativePeel() === null)("the native kernel concludes what the portable one does", async () => {
  for (let seed = 0; seed < 3; seed++) {
    const { transcript } = await attackedJob(creditTable(seed, 24), { num_round: 8, max_bin: 6 });
    const rows = linkRows(transcript);
    const ground = peelGround(rows);
    for (const family of familiesOf(rows, transcript.job.featureCount)) {
      const [portable, native] = [familyTask(rows, family), familyTask(rows, family)];
      expect(peelPortably(ground, portable, 60_000)).toBe("done");
      const { equations, sums, words, possible } = native;
      const { keys, nodeTrees, memberOffsets, members, treeBits } = ground;
      const code = await nativePeel()?.peel(
        keys,
        nodeTrees,
        memberOffsets,
        members,
        treeBits,
        equations,
        sums,
        words,
        possible,
        60_000,
      );
      expect(peelEnd(code ?? 0)).toBe("done");
      expect(possible).toEqual(portable.possible);
    }
  }
});
