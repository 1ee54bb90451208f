/** One CSV table cut by columns into companies, and a federation over them: the way to try Tandem on any data. */
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { writeXgboostModel } from "../store/xgboost/export.ts";
import { type ContributionRow, contributionOf, trainInOnePlace } from "./comparison.ts";
import type { Job } from "../protocol/job.ts";
import { type FederationResult, runFederation } from "./federation.ts";
import type { Supervise } from "./supervisor.ts";
import { prepareSimulation } from "./prepare-simulation.ts";
import type { SimulateOptions } from "./simulate-options.ts";

export interface SimulateResult extends FederationResult {
  readonly job: Job;
  /** Null where no check was asked for; otherwise where the first difference is, or "". */
  readonly difference: string | null;
  /** Null where it was not asked for; the first row is with everybody, and is the federated job's. */
  readonly contribution: readonly ContributionRow[] | null;
}

/** @param supervise starts the parties: as processes, unless it says otherwise */
export async function simulate(options: SimulateOptions, supervise?: Supervise): Promise<SimulateResult> {
  const prepared = await prepareSimulation(options);
  const { federation } = prepared;
  const result = await runFederation(federation, supervise);
  const parties = [federation.active, ...federation.passives];
  if (options.export !== undefined) {
    await writeXgboostModel(
      options.export,
      result.model,
      parties.map(({ features }) => features),
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
  return { ...result, job: prepared.job, difference, contribution };
}
