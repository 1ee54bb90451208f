/**
 * A party's commitment to its inputs, made before the first tree: a digest over a random salt and a list of facts.
 * Large facts are in the list as digests. With salt and facts it can be verified; without them it reveals nothing.
 */
import { createHash } from "node:crypto";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { namedDefences } from "../../privacy/defences/defences.ts";
import { jobSectionNames, type SectionValues, valuesIn } from "../job.ts";

export type Facts = Readonly<Record<string, string | number | boolean>>;

export const saltBytes = 32;

export function commitmentTo(salt: Uint8Array, facts: Facts): Uint8Array {
  const sorted = Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256").update("tandem-commitment/1\n").update(salt).update(JSON.stringify(sorted));
  return Uint8Array.from(hash.digest());
}

/** The values of a group with prefixed names: `training.eta`. */
export function groupedFacts(group: string, values: object): Facts {
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [
      `${group}.${field}`,
      Array.isArray(value) ? value.join(", ") : (value as string | number | boolean),
    ]),
  );
}

/** All parameters of a job. */
export function parameterFacts(job: SectionValues): Facts {
  const { privacy, ...values } = job.privacy;
  const named = { privacy, ...namedDefences(values) };
  return Object.assign(
    {},
    ...jobSectionNames.map((section) => groupedFacts(section, section === "privacy" ? named : valuesIn(job, section))),
  ) as Facts;
}

export function numbersDigest(values: Float64Array | Uint32Array | null): string {
  if (values === null) return "none";
  return createHash("sha256")
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest("hex");
}

/** Names, cuts, categories and constraints of features, and the bins of all instances. */
export function featuresDigest(features: readonly BinnedFeature[]): string {
  const hash = createHash("sha256");
  for (const {
    name,
    thresholds,
    categories,
    oneHot,
    lowest,
    binCount,
    hasMissing,
    missingLeftLast,
    monotone = 0,
    groups,
    bins,
  } of features) {
    const candidates = { binCount, hasMissing, missingLeftLast, monotone, groups };
    const head = { name, categories, oneHot, lowest, ...candidates, people: bins.length };
    hash.update(`${JSON.stringify(head)}\n`);
    for (const { buffer, byteOffset, byteLength } of [thresholds, bins])
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest("hex");
}
