/** What a passive party commits to before the first tree. */
import { type Facts, factsOf, featuresDigest } from "../../protocol/chain/commitment.ts";
import type { PassiveJob } from "../../protocol/passive/role.ts";

type Committed = Pick<
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

export function passiveFacts(job: Committed): Facts {
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
    ...factsOf("minimums", job.minimums),
  };
}
