/** Divides one CSV table by columns among parties and trains a federation of them. */
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { writeXgboostModel } from "../store/xgboost/export.ts";
import { withUsedFeatures } from "../store/xgboost/used-features.ts";
import { type ContributionRow, contributionOf, trainInOnePlace } from "./comparison.ts";
import type { Job } from "../protocol/job.ts";
import { type FederationResult, runFederation } from "./federation.ts";
import type { Supervise } from "./supervisor.ts";
import { prepareSimulation } from "./prepare-simulation.ts";
import type { SimulateOptions } from "./simulate-options.ts";

export interface SimulateResult extends FederationResult {
  readonly job: Job;
  /** The active one first. */
  readonly parties: readonly { readonly name: string; readonly features: readonly string[] }[];
  /** The first difference from centralised training, "" if there is none; null: not checked. */
  readonly difference: string | null;
  /** Null: not requested. The first row is the federated job, with all parties. */
  readonly contribution: readonly ContributionRow[] | null;
}

/** @param supervise starts the parties; default: as processes */
export async function simulate(options: SimulateOptions, supervise?: Supervise): Promise<SimulateResult> {
  const prepared = await prepareSimulation(options);
  const { federation } = prepared;
  const result = await runFederation(federation, supervise);
  const parties = [federation.active, ...federation.passives];
  if (options.export !== undefined) {
    const { model, features } = withUsedFeatures(result.model, parties.length);
    await writeXgboostModel(
      options.export,
      model,
      features,
      parties.map(({ name }) => name),
    );
  }
  const difference = options.check
    ? (firstDifference(result.model, (await trainInOnePlace(prepared)).model) ?? "")
    : null;
  const contribution =
    options.contribution === true
      ? await contributionOf(
          prepared,
          parties.map(({ name }) => name),
          result.active.metrics,
        )
      : null;
  return { ...result, job: prepared.job, parties, difference, contribution };
}
