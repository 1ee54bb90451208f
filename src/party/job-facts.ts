/** The facts that either party commits to before the first tree: all inputs that determine its messages. */
import { mapColumns } from "../base/rows/row-columns.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import type { TrainingRows } from "../gbdt/rows/training-rows.ts";
import {
  type Facts,
  groupedFacts,
  featuresDigest,
  numbersDigest,
  parameterFacts,
} from "../protocol/chain/commitment.ts";
import type { Job } from "../protocol/job.ts";
import type { PassiveJob } from "../protocol/passive/role.ts";
import { configNames } from "../scheme/registry.ts";
import type { SchemeSecret } from "../scheme/scheme.ts";

/** What the active party commits to. */
export interface ActiveCommitment {
  /** The party's. */
  readonly name: string;
  readonly passives: readonly { readonly name: string }[];
  readonly job: Job;
  readonly idsDigest: Uint8Array;
  readonly rows: TrainingRows;
  readonly features: readonly BinnedFeature[];
  readonly samplingSecret: string;
  readonly secret: SchemeSecret;
  readonly seed: Uint8Array;
  /** The start model; null: none. */
  readonly start: { readonly model: string } | null;
  /** Of a cross-validation; 0: none. */
  readonly folds: number;
}

export function activeFacts(committed: ActiveCommitment): Facts {
  const { job, rows } = committed;
  const { weight: _, ...others } = rows.columns;
  return {
    party: "active",
    name: committed.name,
    passives: committed.passives.map((passive) => passive.name).join(", "),
    ids: Buffer.from(committed.idsDigest).toString("hex"),
    people: rows.count,
    labels: numbersDigest(rows.labels),
    weights: numbersDigest(rows.weights),
    ...mapColumns(others, numbersDigest),
    validation: numbersDigest(rows.validation),
    features: featuresDigest(committed.features),
    sampling: committed.samplingSecret,
    key: committed.secret.serialise(),
    seed: Buffer.from(committed.seed).toString("hex"),
    start: committed.start?.model ?? "",
    folds: committed.folds,
    scheme: job.scheme,
    ...configNames(job.schemeParameters),
    ...parameterFacts(job),
  };
}

/** What a passive party commits to. */
export type PassiveCommitment = Pick<
  PassiveJob,
  | "name"
  | "idsDigest"
  | "instanceCount"
  | "features"
  | "permutationSecret"
  | "samplingSecret"
  | "noiseSecret"
  | "minimums"
  | "allowsUnpacked"
>;

export function passiveFacts(job: PassiveCommitment): Facts {
  const { name, idsDigest, instanceCount, features, permutationSecret, samplingSecret = "", noiseSecret } = job;
  return {
    party: "passive",
    name,
    ids: Buffer.from(idsDigest).toString("hex"),
    people: instanceCount,
    features: featuresDigest(features),
    order: Buffer.from(permutationSecret).toString("hex"),
    sampling: samplingSecret,
    noise: noiseSecret === undefined ? "none" : Buffer.from(noiseSecret).toString("hex"),
    unpacked: job.allowsUnpacked ?? false,
    ...groupedFacts("minimums", job.minimums),
  };
}
