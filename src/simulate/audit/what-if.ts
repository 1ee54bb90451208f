/** Changes to a job that make it reveal less: the rows of `tandem audit --what-if`. */
import { resolveParameters } from "../../base/parameters/parameters.ts";
import type { Defence } from "../../privacy/defences/defence.ts";
import {
  type DefenceName,
  defenceNames,
  type Defences,
  defences,
  isOn,
  privacyParameters,
} from "../../privacy/defences/defences.ts";
import type { AuditedJob } from "./recorded-training.ts";

export interface WhatIfJob {
  readonly name: string;
  /** The changed job; null: the job has the change already, or it does not apply. */
  change(audited: AuditedJob): AuditedJob | null;
}

const { privacy: _, ...guarded } = resolveParameters(privacyParameters, { privacy: "guarded" });

/** Each defence alone with the value of `guarded`, and training parameters. Presets are compared by scheme. */
export const whatIfs: readonly WhatIfJob[] = [
  ...defenceNames.flatMap(alone),
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

function alone(name: DefenceName): WhatIfJob[] {
  const how = auditOf(name);
  if (how === "none" || typeof how === "object" || !isOn(guarded[name])) return [];
  const together = defenceNames.filter((other) => {
    const its = auditOf(other);
    return other === name || (typeof its === "object" && its.with === name);
  });
  const named = together.map((each) => (guarded[each] === true ? each : `${each} ${guarded[each]}`));
  return [one(named.join(", "), Object.fromEntries(together.map((each) => [each, guarded[each]])))];
}

function auditOf(name: DefenceName): Defence["audit"] {
  const { audit }: Defence = defences[name];
  return audit;
}

/** Whether the defence changes what training reveals, as far as an audit measures it. */
export function changesTraining(name: DefenceName): boolean {
  const how = auditOf(name);
  return how !== "none" && how !== "scoring";
}

function one(name: string, values: Partial<Defences>): WhatIfJob {
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
