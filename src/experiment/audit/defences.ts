/** What could be changed about a job so that it gives less away: the rows of `tandem audit --what-if`. */
import type { AuditedJob } from "./recorded-training.ts";

export interface Defence {
  readonly name: string;
  /** The job with it; null: the job has it already, or it does not apply. */
  change(job: AuditedJob): AuditedJob | null;
}

/** New defences are added here, and nowhere else. */
export const defences: readonly Defence[] = [
  {
    name: "minimum of 1 % of the people per candidate",
    change(job) {
      const perCandidate = Math.ceil(job.train[0].ids.length / 100);
      return job.minimums.perCandidate >= perCandidate ? null : { ...job, minimums: { ...job.minimums, perCandidate } };
    },
  },
  { name: "num_round 20", change: (job) => withTraining(job, "num_round", 20, job.training.num_round > 20) },
  {
    name: "local_rounds 10",
    change: (job) =>
      withTraining(job, "local_rounds", 10, job.training.local_rounds < 10 && job.training.num_round > 10),
  },
];

function withTraining(
  job: AuditedJob,
  parameter: "num_round" | "local_rounds",
  value: number,
  applies: boolean,
): AuditedJob | null {
  return applies ? { ...job, training: { ...job.training, [parameter]: value } } : null;
}
