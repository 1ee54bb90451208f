/** Stores a trained model: predictions of the test rows, and the active party's share. */
import { join } from "node:path";
import type { Storage } from "../../base/files/storage.ts";
import { categoryNamesPerFeature } from "../../data/dataset.ts";
import { predictionsFrom } from "../../gbdt/objective/objectives.ts";
import type { ActiveModel, ActiveRole } from "../../protocol/active/role.ts";
import { agreedParameters } from "../../protocol/job-parameters.ts";
import { modelId } from "../../protocol/model-id.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import { baseMarginMark, maskedMark, writeActiveShare } from "../../store/share-files.ts";
import { evaluate } from "../evaluate.ts";
import { rowsOfTable } from "../tables/table-rows.ts";
import type { PreparedJob } from "./attempts.ts";
import { writePredictions } from "./results.ts";

/** Of the test rows. */
export interface TestResult {
  readonly metrics: NonNullable<ActiveResult["metrics"]["test"]>;
  readonly margins: Float64Array;
}

/** @returns null where there are no test rows */
export async function storeModel(
  role: ActiveRole,
  model: ActiveModel,
  prepared: PreparedJob,
  folder: string,
  storage: Storage,
): Promise<TestResult | null> {
  const { config, train, rows, idsDigest } = prepared;
  const { name, job, data } = config;
  const result = await predictTestRows(role, model, prepared, folder, storage);
  await writeActiveShare(
    join(folder, "share.json"),
    {
      name,
      job: job.name,
      model: modelId(agreedParameters(job), rows.count, idsDigest),
      ...maskedMark(job.privacy),
      ...baseMarginMark(data.base_margin),
      ...model,
      ...(train.classes ? { classes: train.classes } : {}),
    },
    storage,
  );
  return result;
}

async function predictTestRows(
  role: ActiveRole,
  model: ActiveModel,
  { config, test }: PreparedJob,
  folder: string,
  storage: Storage,
): Promise<TestResult | null> {
  if (test === null) return null;
  const { training } = config.job;
  const { objective } = training;
  const rows = rowsOfTable(test);
  const margins = await role.predict(model, {
    ids: test.ids,
    features: test.features,
    categoryNames: categoryNamesPerFeature(test),
    baseMargins: rows.baseMargins,
  });
  const predictions = predictionsFrom(objective, margins, model.outputCount);
  const path = config.output.predictions ?? join(folder, "predictions.csv");
  await writePredictions(path, test, { objective, predictions }, storage);
  return { metrics: evaluate(training, margins, rows), margins };
}
