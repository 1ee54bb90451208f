/** What a simulated job will reveal: here the one who asks knows every party's side. */
import { otherRows } from "../gbdt/boost/boosting-task.ts";
import { minimumsOfJob, peopleOf } from "../gbdt/split/job-minimums.ts";
import { noMinimums } from "../gbdt/split/offered-candidates.ts";
import { jobFacts, partySide } from "../party/disclosure-facts.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import type { DisclosureFacts } from "../privacy/disclosures.ts";
import { withValidation } from "./comparison.ts";
import type { PreparedSimulation } from "./prepare-simulation.ts";

export function simulationFacts(prepared: PreparedSimulation): readonly DisclosureFacts[] {
  const { job, training, codec, privacy } = prepared;
  const { rows, validation } = withValidation({ ...prepared, validationFraction: job.validationFraction });
  const own = jobFacts(
    { training, codec, privacy, scheme: job.scheme, keyBits: job.keyBits, hasStart: prepared.start !== null },
    rows[0],
    validation,
    job.active.test?.columns[0].length ?? 0,
  );
  const people = peopleOf(rows[0].ids.length, validation?.length ?? 0);
  const minimums = minimumsOfJob(noMinimums, privacy, people);
  const deciding = validation && otherRows(validation, rows[0].ids.length);
  return job.passives.map(({ name }, i) => {
    const features = binTable(rows[i + 1], binningOf(training), deciding);
    return {
      ...own,
      active: job.active.name,
      passive: name,
      alignment: null,
      passiveParty: partySide(features, { minimums, scoringIdsMax: "refused" }),
    };
  });
}
