/** Stores a trained model: predictions of the test rows, reference distributions, and the active party's share. */
import { join } from "node:path";
import type { Storage } from "../../base/files/storage.ts";
import { categoryNamesPerFeature } from "../../data/dataset.ts";
import { selectMargins } from "../../gbdt/boost/boosting-monitor.ts";
import { predictionsFrom } from "../../gbdt/objective/objectives.ts";
import { isOwnRule } from "../../protocol/active/federated-tree.ts";
import type { ActiveModel, ActiveRole } from "../../protocol/active/role.ts";
import { agreedParameters } from "../../protocol/job-parameters.ts";
import { modelId } from "../../protocol/model-id.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import { baseMarginMark, maskedMark, writeActiveShare } from "../../store/share-files.ts";
import { type Reference, writeReference } from "../../store/reference-file.ts";
import { featureReferences, scoreReferences } from "../model/reference.ts";
import { evaluate } from "../evaluate.ts";
import { rowsOfTable } from "../tables/table-rows.ts";
import type { PreparedJob } from "./attempts.ts";
import { writePredictions } from "./results.ts";

/** Of the test rows. */
export interface TestResult {
  readonly metrics: NonNullable<ActiveResult["metrics"]["test"]>;
  readonly margins: Float64Array;
}

/**
 * @param margins of the rows of the job, by this model; null: not known
 * @returns null where there are no test rows
 */
export async function storeModel(
  role: ActiveRole,
  model: ActiveModel,
  prepared: PreparedJob,
  margins: Float64Array | null,
  folder: string,
  storage: Storage,
): Promise<TestResult | null> {
  const { config, train, rows, idsDigest } = prepared;
  const { name, job, data } = config;
  const result = await predictTestRows(role, model, prepared, folder, storage);
  const id = modelId(agreedParameters(job), rows.count, idsDigest);
  const reference = { model: id, ...references(prepared, model, margins, result?.margins ?? null) };
  await writeReference(folder, reference, storage);
  await writeActiveShare(
    join(folder, "share.json"),
    {
      name,
      job: job.name,
      model: id,
      ...maskedMark(job.privacy),
      ...baseMarginMark(data.base_margin),
      ...model,
      ...(train.classes ? { classes: train.classes } : {}),
    },
    storage,
  );
  return result;
}

/** Scores with noise are compared with scores with noise, which only test rows have. */
function references(
  { config, train, rows }: PreparedJob,
  model: ActiveModel,
  margins: Float64Array | null,
  testMargins: Float64Array | null,
): Pick<Reference, "scores" | "features"> {
  const { training, privacy } = config.job;
  const { outputCount = 1 } = model;
  const trained =
    margins === null || rows.training === null ? margins : selectMargins(margins, rows.training, outputCount);
  const scores = privacy.score_noise > 0 ? testMargins : (trained ?? testMargins);
  const rules = model.trees.flat().flatMap((at) => (at.kind === "split" && isOwnRule(at.rule) ? [at.rule] : []));
  return {
    scores: scoreReferences({ ...model, objective: training.objective }, scores),
    // Values of many rows are dropped before training (attempts.ts).
    features: train.features.length === 0 ? [] : featureReferences(train, rules),
  };
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
