/** The gain from the other parties' columns: `tandem train --compare-alone` between real parties. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveParameters, codecWith } from "../src/base/parameters/parameters.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { plaintextBitsMax } from "../src/codec/packing.ts";
import { columnIndex, numericColumn } from "../src/data/columns.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { BoostingMonitor } from "../src/gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { binFeature } from "../src/gbdt/split/binning.ts";
import { trainCentralised } from "../src/gbdt/boost/train.ts";
import type { ActiveResult } from "../src/record/events/job-events.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { splitRows } from "../src/data/split.ts";
import { tandemHere } from "./world/command-here.ts";
import { predictionsIn, TrainedWorlds } from "./support/test-worlds.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";

const worlds = new TrainedWorlds();

interface Outcome {
  readonly metrics: ActiveResult["metrics"];
  readonly contribution?: {
    readonly alone: ActiveResult["metrics"];
    readonly parties: readonly { name: string; splits: number; gain: number; cover: number }[];
  };
}

test("the baseline is the active party's own columns on the same rows; the model is unchanged", async () => {
  const world = await worlds.train(2);
  await world.activeConfig("compared");
  const run = await tandemHere(
    "train",
    "-c",
    join(world.bank.folder, "active-compared.json"),
    "--compare-alone",
    "--json",
    "--quiet",
  );
  expect(run.exitCode).toBe(0);
  const { metrics, contribution } = JSON.parse(run.stdout) as Outcome;
  expect(predictionsIn(join(world.bank.folder, "jobs", "compared", "predictions.csv"))).toEqual(
    predictionsIn(join(world.bank.folder, "jobs", "spring", "predictions.csv")),
  );
  expect(contribution?.parties.map(({ name }) => name)).toEqual(["bank", "shop0", "shop1"]);
  for (const { gain, cover, splits } of contribution?.parties ?? [])
    expect(Math.min(gain, cover, splits)).toBeGreaterThan(0);
  const [together, alone] = [metrics.train["auc"], contribution?.alone.train["auc"] ?? Number.NaN];
  expect(together).toBeGreaterThan(alone); // the label depends on the shops' columns

  const { own } = await readRecord(join(world.bank.folder, "jobs", "compared"));
  const { evaluation } = own;
  expect(evaluation?.parts.map(({ part }) => part)).toEqual(["training", "test"]);
  const [fitted, held] = (evaluation?.parts ?? []).map(({ estimates: [first] }) => first);
  expect(fitted).toMatchObject({ name: "auc", value: metrics.train["auc"] });
  expect(held.value).toBeCloseTo(metrics.test?.["auc"] ?? Number.NaN, 12);
  expect(evaluation?.federation?.alone.value).toBeCloseTo(contribution?.alone.test?.["auc"] ?? Number.NaN, 12);
  // Without the option the comparison is in the record only, and with `compare_alone: false` nowhere.
  expect((await readRecord(join(world.bank.folder, "jobs", "spring"))).own.evaluation?.federation).toEqual(
    evaluation?.federation,
  );

  // Recomputed: the active party's rows of the common ids, in their order, split by the seed.
  const file = await readCsvTable(join(world.bank.folder, "data.csv"));
  const rowOf = new Map(file.columns[0].map((id, row) => [id, row]));
  const aligned = readFileSync(join(world.bank.folder, "jobs", "compared", "aligned.csv"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => rowOf.get(line.split(",")[0]) ?? -1);
  const training = resolveParameters(trainingParameters, { num_round: 4, max_depth: 3, max_bin: 8 });
  const rows = Array.from(splitRows(aligned.length, 0.25, training.seed).train, (row) => aligned[row]);
  const trained = new TrainingRows(
    Float64Array.from(rows, (row) => (file.columns[columnIndex(file, "outcome")][row] === "defaulter" ? 1 : 0)),
  );
  const features = ["bank_0", "bank_1"].map((name) => {
    const column = numericColumn(file, columnIndex(file, name), new Set());
    return binFeature(
      name,
      Float32Array.from(rows, (row) => column[row]),
      training.max_bin,
    );
  });
  const { trainMargins } = await trainCentralised({
    parties: [features],
    rows: trained,
    parameters: training,
    quantise: quantiserFor(codecWith(), plaintextBitsMax(256)),
  });
  expect(contribution?.alone.train).toEqual(
    await new BoostingMonitor(training, new BoostingTask(training, trained)).onTraining(trainMargins),
  );

  const report = readFileSync(join(world.bank.folder, "jobs", "compared", "report.html"), "utf8");
  expect(report, "a short key is named where the risk officer looks").toMatch(
    /\d+ bits is insecure: it can be factored/,
  );
  expect(report).toContain("test rows, own columns alone");
  expect(report).toContain((contribution?.alone.test?.["auc"] ?? Number.NaN).toFixed(5));
});
