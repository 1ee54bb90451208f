/** `tandem audit --what-if` with every objective: each has a price of presets in its own metric, and bits. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { objectiveFor, objectiveNames, type ObjectiveName } from "../src/gbdt/objective/objectives.ts";
import type { AuditResult } from "../src/privacy/attack/audit-result.ts";
import { auditSimulation } from "../src/simulate/audit/audit.ts";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";

const path = join(scratchDirectory(), "labels.csv");
const random = new SeededRandom("labels of every kind");
const logistic = (x: number): number => 1 / (1 + Math.exp(-x));
const lines = Array.from({ length: 300 }, (_, id) => {
  const x = [0, 1, 2, 3].map(() => random.normal());
  const signal = 0.5 * x[0] + 0.4 * Math.abs(x[1]) + 0.8 * x[2] + (x[3] > 0.3 ? 0.5 : 0) - 0.5;
  const time = Math.exp(signal) * (0.1 - Math.log(1 - random.uniform()));
  const isCensored = random.uniform() < 0.3;
  const labels = [
    random.uniform() < logistic(2 * signal) ? 1 : 0,
    logistic(signal + 0.5 * random.normal()),
    3 * signal + random.normal(),
    time,
    Math.round(time),
    isCensored ? -time : time,
    isCensored ? "" : time,
    Math.min(4, Math.max(0, Math.round(signal + 2))),
    signal < -0.3 ? 0 : signal < 0.5 ? 1 : 2,
  ];
  return [id, ...x, ...labels, id % 20].join();
});
const header = "id,a,b,c,d,binary,fraction,amount,positive,count,censored,upper,grade,class,group";
writeFileSync(path, [header, ...lines, ""].join("\n"));

const labels: Readonly<Record<ObjectiveName, string>> = {
  "binary:logistic": "binary",
  "binary:logitraw": "binary",
  "binary:hinge": "binary",
  "reg:logistic": "fraction",
  "reg:squarederror": "amount",
  "reg:pseudohubererror": "amount",
  "reg:absoluteerror": "amount",
  "reg:quantileerror": "amount",
  "reg:gamma": "positive",
  "reg:tweedie": "count",
  "count:poisson": "count",
  "survival:cox": "censored",
  "survival:aft": "positive",
  "rank:pairwise": "grade",
  "rank:ndcg": "grade",
  "multi:softprob": "class",
  "multi:softmax": "class",
};

const given: Partial<Record<ObjectiveName, object>> = {
  "binary:hinge": { num_round: 6 }, // before, its predictions are all the same
  "reg:quantileerror": { quantile_alpha: [0.2, 0.8] },
  "multi:softprob": { num_class: 3 },
  "multi:softmax": { num_class: 3 },
};

function audit(objective: ObjectiveName): Promise<AuditResult> {
  const isRanking = objective.startsWith("rank:");
  return auditSimulation(
    {
      data: path,
      id: "id",
      label: labels[objective],
      active: ["a", "b"],
      passives: [["c", "d"]],
      testFraction: 0.25,
      missing: [],
      rowColumns: {
        ...(objective === "survival:aft" && { label_upper_bound: "upper" }),
        ...(isRanking && { qid: "group" }),
      },
      job: { training: { objective, num_round: 2, max_depth: 2, max_bin: 8, ...given[objective] } },
      check: false,
      onEvent: () => {},
    },
    { seconds: 1, whatIf: true, onProgress: () => {} },
  );
}

test.each(partOf(objectiveNames, 12, 9))("%s", async (objective) => {
  const { prices, presets = [], labels: guesses } = await audit(objective);
  const { kind, metrics } = objectiveFor(objective);
  const isBinary = kind === "binary";
  expect(prices).toHaveLength(3);
  for (const { metric, alone, value } of prices ?? []) {
    expect(metric).toBe(isBinary ? "auc" : metrics.at(-1));
    expect([alone, value].every(Number.isFinite)).toBe(true);
  }
  const [exact] = prices ?? [];
  expect(exact.value, "the passive party's columns add to the model").not.toBe(exact.alone);
  expect(presets).toHaveLength(9);
  for (const { preset, scheme, sums, exposure, cost } of presets) {
    const name = `${preset} ${scheme}`;
    // On so few people noise may leave the passive party no split.
    expect(exposure?.outcomes, name).toBeGreaterThan(sums.startsWith("noise") ? -1e-9 : 0);
    expect(exposure?.outcomes, name).toBeLessThanOrEqual(exposure?.bits ?? 0);
    expect(exposure?.sumsAreBound, name).toBe(sums !== "exact");
    expect(cost?.bytes, name).toBeGreaterThan(0);
  }
  expect(guesses.every(({ guess }) => (guess !== null) === isBinary)).toBe(true);
});
