/** What a simulated job will reveal: here the one who asks knows every party's side. */
import { minimumsOfJob, peopleOf } from "../gbdt/split/job-minimums.ts";
import { noMinimums } from "../gbdt/split/offered-candidates.ts";
import { jobFacts, partySide } from "../party/disclosure-facts.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import type { DisclosureFacts } from "../privacy/disclosures.ts";
import { withValidation } from "./comparison.ts";
import type { PreparedSimulation } from "./prepare-simulation.ts";

export function simulationFacts(prepared: PreparedSimulation): readonly DisclosureFacts[] {
  const { job, training, codec, privacy } = prepared;
  const { tables, rows } = withValidation({ ...prepared, validationFraction: job.validationFraction });
  const own = jobFacts(
    { training, codec, privacy, scheme: job.scheme, keyBits: job.keyBits, hasStart: prepared.start !== null },
    rows,
    job.active.test?.columns[0].length ?? 0,
  );
  const people = peopleOf(rows.count, rows.validation?.length ?? 0);
  const minimums = minimumsOfJob(noMinimums, privacy, people);
  return job.passives.map(({ name }, i) => {
    const features = binTable(tables[i + 1], binningOf(training), rows.training);
    return {
      ...own,
      active: job.active.name,
      passive: name,
      alignment: null,
      passiveParty: partySide(features, { minimums, scoringIdsMax: "refused" }),
    };
  });
}
