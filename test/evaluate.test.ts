/**
 * `tandem evaluate` and `tandem report` between real parties: figures of the model on labelled rows, their exports, and
 * what both parties' records say was revealed by it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auc } from "../src/gbdt/metric/auc-metrics.ts";
import type { ModelEvaluation } from "../src/record/evaluation/evaluation.ts";
import { revealedFacts } from "../src/record/revealed.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { people, predictionsIn, type TrainedWorld, TrainedWorlds, writeInput } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";

const worlds = new TrainedWorlds();
const ids = people.slice(25, 115).map(({ id }) => id);
const labelOf = new Map(people.map(({ id, label }) => [id, label]));

function writeLabelled(world: TrainedWorld, name: string, of: readonly string[]): string {
  const [head, ...lines] = readFileSync(writeInput(world, name, of), "utf8")
    .trim()
    .split("\n");
  const labelled = lines.map((line) => `${line},${labelOf.get(line.split(",")[2]) ?? ""}`);
  const path = join(world.bank.folder, `labelled-${name}`);
  writeFileSync(path, `${[`${head},outcome`, ...labelled].join("\n")}\n`);
  return path;
}

interface Printed {
  readonly job: string;
  readonly evaluated: number;
  readonly evaluation: ModelEvaluation;
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

test("a finished model on later labels: figures, exports, and the facts in both records", async () => {
  const world = await worlds.restarted(1);
  const { bank } = world;
  const [input, csv, html] = [
    writeLabelled(world, "later.csv", ids),
    join(bank.folder, "csv"),
    join(bank.folder, "e.html"),
  ];
  const options = ["-c", world.configPath, "--model", "spring", "--input", input, "--cost", "10:1", "--csv", csv];
  const run = await tandemHere("evaluate", ...options, "--out", html, "--threshold", "0.25", "--json");
  expect(run.exitCode, run.stderr).toBe(0);
  const { job, evaluated, evaluation, tables } = JSON.parse(run.stdout) as Printed;
  expect([job, evaluated, evaluation.shown]).toEqual(["spring", ids.length, "new"]);

  // The same scores as those of predict, against the labels of the file.
  const output = join(bank.folder, "scores.csv");
  await runPredict(world.config, { model: "spring", input, output, unknown: "refuse", onProgress: () => {} });
  const scores = predictionsIn(output);
  const labels = Float64Array.from(ids, (id) => Number(labelOf.get(id) === "defaulter"));
  const expected = auc(
    Float64Array.from(ids, (id) => Number(scores.get(id))),
    labels,
  );
  expect(evaluation.parts[0].estimates[0]).toMatchObject({
    name: "auc",
    value: expect.closeTo(expected, 12) as number,
  });
  expect(evaluation.stability?.counts.map(({ part }) => part)).toEqual(["training", "new"]);
  expect(tables["decisions"][0]["rule"]).toContain("a miss costs 10");
  expect(tables["decisions"].at(-1)?.["rule"]).toBe("score from 0.25 on");
  expect(readdirSync(csv).toSorted()).toEqual(
    Object.keys(tables)
      .map((name) => `${name}.csv`)
      .toSorted(),
  );
  expect(readFileSync(join(csv, "deciles.csv"), "utf8")).toMatch(/^decile,score from,to,rows,label 1,rate,/);
  expect(readFileSync(html, "utf8")).toContain("evaluated on later rows");

  await world.parties[0].stop();
  const twice = { how: "scoring", active: "bank", passive: "shop0", ids: 2 * ids.length };
  for (const { folder } of [bank, world.shops[0]]) {
    const { own, view } = await readRecord(join(folder, "jobs", "spring"));
    expect(own.revealed).toMatchObject([twice]);
    const words = revealedFacts(view, own.revealed).map(({ learner, words: said }) => `${learner}: ${said}`);
    expect(words.at(-2)).toBe(
      `bank: the outcome of each of shop0's splits for ${twice.ids} people, and which of them it holds`,
    );
    // The alignment of the job comes first.
    expect(words[0]).toMatch(/^bank: which \d+ people of its table are also in that of shop0/);
  }
});

test("the report of a job: exports of its evaluation, none of a passive party's, and wrong options", async () => {
  const world = await worlds.restarted(1);
  const folder = join(world.bank.folder, "jobs", "spring");
  const run = await tandemHere("report", folder, "--json", "--flag-rate", "0.5");
  expect(run.exitCode, run.stderr).toBe(0);
  const { tables } = JSON.parse(run.stdout) as Printed;
  expect(tables["decisions"].map(({ rule }) => rule)).toContain("at most 50% flagged");
  const wrong = [
    [["--cost", "5"], /--cost must be two numbers from 0 on, such as 5:1; got '5'/],
    [["--flag-rate", "0.1,2"], /--flag-rate must be parts from 0 to 1; got '2'/],
    [["--threshold", "high"], /--threshold must be numbers; got 'high'/],
    [["--points-to-double", "0"], /--points-to-double must be a number above 0; got '0'/],
    [["--public", "--json"], /--public leaves out the evaluation/],
  ] as const;
  for (const [options, message] of wrong) {
    const { exitCode, stderr } = await tandemHere("report", folder, ...options);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  const passive = await tandemHere("report", join(world.shops[0].folder, "jobs", "spring"), "--json");
  expect([passive.exitCode, passive.stderr]).toEqual([
    2,
    expect.stringMatching(/a passive party, which has no labels/),
  ]);
});
