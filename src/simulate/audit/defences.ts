/** What could be changed about a job so that it gives less away: the rows of `tandem audit --what-if`. */
import { type Defences, presets, privacyParameters, resolveParameters } from "../../base/parameters/parameters.ts";
import type { AuditedJob } from "./recorded-training.ts";

export interface Defence {
  readonly name: string;
  /** The job with it; null: the job has it already, or it does not apply. */
  change(audited: AuditedJob): AuditedJob | null;
}

const guarded = resolveParameters(privacyParameters, { privacy: "guarded" });
const { answer_noise: noise, min_people_share: share, max_thresholds: thresholds } = guarded;

/** Each defence alone as the preset has it, the presets, and what training can do. New ones are added here. */
export const defences: readonly Defence[] = [
  one(`answer_noise ${noise}, min_people_share ${share}`, { answer_noise: noise, min_people_share: share }),
  one(`max_thresholds ${thresholds}`, { max_thresholds: thresholds }),
  one("masked_scoring", { masked_scoring: true }),
  ...presets
    .filter((preset) => preset !== "exact")
    .map((preset) => one(`privacy ${preset}`, withoutName(resolveParameters(privacyParameters, { privacy: preset })))),
  {
    name: "num_round 20",
    change: (audited) => withTraining(audited, "num_round", 20, audited.job.training.num_round > 20),
  },
  {
    name: "local_rounds 10",
    change: (audited) => {
      const { training } = audited.job;
      return withTraining(audited, "local_rounds", 10, training.local_rounds < 10 && training.num_round > 10);
    },
  },
];

function withoutName({ privacy: _name, ...values }: typeof guarded): Defences {
  return values;
}

function one(name: string, values: Partial<Defences>): Defence {
  const isThere = ({ job: { privacy } }: AuditedJob): boolean =>
    Object.entries(values).every(([key, value]) => privacy[key as keyof Defences] === value);
  return {
    name,
    change: (audited) => {
      const { job } = audited;
      return isThere(audited) ? null : { ...audited, job: { ...job, privacy: { ...job.privacy, ...values } } };
    },
  };
}

function withTraining(
  audited: AuditedJob,
  parameter: "num_round" | "local_rounds",
  value: number,
  applies: boolean,
): AuditedJob | null {
  const { job } = audited;
  return applies ? { ...audited, job: { ...job, training: { ...job.training, [parameter]: value } } } : null;
}
