/** What a simulated job will reveal, computed with every party's data. */
import { minimumsOfJob, trainingInstanceCount } from "../gbdt/split/job-minimums.ts";
import { noMinimums } from "../gbdt/split/offered-candidates.ts";
import { jobFacts, partySide } from "../party/disclosure-facts.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import type { DisclosureFacts } from "../privacy/disclosures.ts";
import { withValidation } from "./comparison.ts";
import type { PreparedSimulation } from "./prepare-simulation.ts";

export function simulationFacts(prepared: PreparedSimulation): readonly DisclosureFacts[] {
  const { job, federation } = prepared;
  const { active, passives } = federation;
  const { tables, rows } = withValidation(prepared);
  const own = jobFacts(job, rows, {
    predictedRows: active.test?.columns[0].length ?? 0,
    hasStart: prepared.start !== null,
  });
  const instanceCount = trainingInstanceCount(rows.count, rows.validation?.length ?? 0);
  const minimums = minimumsOfJob(noMinimums, job.privacy, instanceCount);
  return passives.map(({ name }, i) => {
    const features = binTable(tables[i + 1], binningOf(job), rows.training);
    return {
      ...own,
      active: active.name,
      passive: name,
      alignment: null,
      passiveParty: partySide(features, { minimums, scoringIdsMax: "refused" }),
    };
  });
}
