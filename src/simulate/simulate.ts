/** One CSV table cut by columns into companies, and a federation over them: the way to try Tandem on any data. */
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { writeXgboostModel } from "../store/xgboost/export.ts";
import { type ContributionRow, contributionOf, trainInOnePlace } from "./comparison.ts";
import { type FederationResult, runFederation } from "./federation.ts";
import type { Supervise } from "./supervisor.ts";
import { prepareSimulation } from "./prepare-simulation.ts";
import type { SimulateOptions } from "./simulate-options.ts";

export interface SimulateResult extends FederationResult {
  /** Null where no check was asked for; otherwise where the first difference is, or "". */
  readonly difference: string | null;
  /** Null where it was not asked for; the first row is with everybody, and is the federated job's. */
  readonly contribution: readonly ContributionRow[] | null;
}

/** @param supervise starts the parties: as processes, unless it says otherwise */
export async function simulate(options: SimulateOptions, supervise?: Supervise): Promise<SimulateResult> {
  const { job, train, test, validation, training, codec, privacy, start } = await prepareSimulation(options);
  const result = await runFederation(job, supervise);
  const parties = [job.active, ...job.passives];
  if (options.export !== undefined) {
    await writeXgboostModel(
      options.export,
      result.model,
      parties.map(({ features }) => features),
      parties.map(({ name }) => name),
    );
  }
  const onePlace = {
    train,
    test,
    training,
    codec,
    defences: privacy,
    scheme: options.scheme,
    keyBits: options.keyBits,
    validationFraction: options.validationFraction,
    validation,
    start,
  };
  const difference = options.check
    ? (firstDifference(result.model, (await trainInOnePlace(onePlace)).model) ?? "")
    : null;
  const contribution =
    options.contribution === true
      ? await contributionOf(
          onePlace,
          parties.map(({ name }) => name),
          result.active.metrics,
        )
      : null;
  return { ...result, difference, contribution };
}
