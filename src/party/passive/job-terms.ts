/** The stored terms of a job: a later attempt must have the same. */
import { TandemError } from "../../base/error.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import { startBits } from "../../gbdt/split/revealed-pieces.ts";
import { UsedThresholds } from "../../gbdt/split/used-thresholds.ts";
import { type AgreedParameters, flatParameters } from "../../protocol/job-parameters.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { toBase64 } from "../../store/stored-numbers.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { ScoringPermits } from "../model/scoring-permits.ts";
import { ShareLibrary } from "../model/share-library.ts";
import { splitsOver } from "../model/start-model.ts";
import type { PassiveFiles } from "./passive-files.ts";
import type { JobRows } from "./job-rows.ts";
import type { RowDigests } from "./row-digests.ts";
import type { JobTerms } from "./checkpoints.ts";

export function toStoredTerms(
  hello: ActiveHello,
  agreed: AgreedParameters,
  rows: JobRows,
  digests: RowDigests,
  active: string,
  sampling: string,
): JobTerms {
  return {
    active,
    jobId: Buffer.from(hello.jobId).toString("hex"),
    agreed: flatParameters(agreed),
    instances: rows.training.ids.length,
    idsDigest: Buffer.from(digests.ids).toString("hex"),
    aligned: hello.aligned,
    training: toBase64(hello.trainingRows),
    validation: toBase64(hello.validationRows),
    data: digests.all,
    sampling,
  };
}

/**
 * This party's splits of the start model.
 * @throws TandemError MODEL_UNKNOWN, POLICY, COLUMN_UNKNOWN or HANDSHAKE_MISMATCH
 */
export async function startSplits(
  files: PassiveFiles,
  agreed: AgreedParameters,
  active: string,
  table: PartyTable,
): Promise<readonly OwnSplit[]> {
  if (agreed.startModel === "") return [];
  const { name, output } = files.config;
  const damaged = (error: TandemError): void =>
    files.emit({ type: "error", party: name, code: error.code, message: error.message });
  const share = await new ShareLibrary(output.directory, damaged).find(agreed.startModel, active);
  if (share === null)
    throw new TandemError(
      "MODEL_UNKNOWN",
      `${name} has no share of the start model that was made with this active party`,
    );
  // A job that continues a model reveals its margins, as scoring does.
  await new ScoringPermits(files.config, files.emit).check(share.model);
  // What was not revealed about this model before must not be revealed now.
  if (share.maskedScoring === true && !agreed.defences.masked_scoring)
    throw new TandemError(
      "POLICY",
      `start_model: ${name} made it with masked_scoring, so a job that continues it needs masked_scoring too`,
    );
  // Its margins would be revealed without noise.
  if (share.scoreNoise !== undefined)
    throw new TandemError("POLICY", `start_model: ${name} made it with score_noise, so no job can continue it`);
  // Used thresholds may be used again: a start model with more than the limit would defeat it.
  const { max_thresholds: limit } = agreed.defences;
  if (limit > 0 && new UsedThresholds(limit, share.splits).isExceeded)
    throw new TandemError(
      "POLICY",
      `start_model: ${name} has more thresholds in it than max_thresholds allows, so the job cannot continue it`,
    );
  if (share.splits.some(({ tree }) => tree >= agreed.startTrees))
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `start_trees: the active party proposes ${agreed.startTrees}, ${name} has splits of later trees`,
    );
  return files.using(async () => {
    const splits = splitsOver(share.splits, table);
    const { outcome_bits: bitsMax } = agreed.defences;
    if (bitsMax > 0 && bitsOf(splits, table) > bitsMax * table.features.length)
      throw new TandemError(
        "POLICY",
        `start_model: the splits of ${name} in it reveal more than outcome_bits allows, so the job cannot continue it`,
      );
    return splits;
  });
}

function bitsOf(splits: readonly OwnSplit[], table: PartyTable): number {
  const names = categoryNamesPerFeature(table);
  const tests = splits.map((split) => ({
    test: split,
    values: table.features[split.feature],
    names: names[split.feature],
  }));
  return startBits(tests, table.ids.length);
}
