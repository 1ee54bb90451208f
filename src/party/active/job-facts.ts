/** What the active party commits to before the first tree: all that decides what it will send. */
import { mapColumns } from "../../base/rows/row-columns.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import { type Facts, featuresDigest, numbersDigest, parameterFacts } from "../../protocol/chain/commitment.ts";
import { configNames } from "../../scheme/registry.ts";
import type { SchemeSecret } from "../../scheme/scheme.ts";
import type { Job } from "../../protocol/job.ts";

export interface CommittedJob {
  /** The party's. */
  readonly name: string;
  readonly passives: readonly { readonly name: string }[];
  readonly job: Job;
  readonly idsDigest: Uint8Array;
  readonly rows: TrainingRows;
  readonly features: readonly BinnedFeature[];
  readonly samplingSecret: string;
  readonly secret: SchemeSecret;
  /** The id of the model that training goes on from; "": none. */
  readonly startModel: string;
  /** Of a cross-validation; 0: none. */
  readonly folds: number;
}

export function activeFacts(job: CommittedJob): Facts {
  const { labels, weights, columns, validation } = job.rows;
  const { weight: _, ...others } = columns;
  return {
    party: "active",
    name: job.name,
    passives: job.passives.map((passive) => passive.name).join(", "),
    ids: Buffer.from(job.idsDigest).toString("hex"),
    people: job.rows.count,
    labels: numbersDigest(labels),
    weights: numbersDigest(weights),
    ...mapColumns(others, numbersDigest),
    validation: numbersDigest(validation),
    features: featuresDigest(job.features),
    sampling: job.samplingSecret,
    key: job.secret.serialise(),
    start: job.startModel,
    folds: job.folds,
    scheme: job.job.scheme,
    ...configNames(job.job.schemeParameters),
    ...parameterFacts(job.job),
  };
}
