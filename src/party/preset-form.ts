/**
 * Which of its two forms a preset takes in a job. Guarded and strict hide sums where the job can be trained so, and add
 * noise to them otherwise. The active party decides by its config alone, so that the form is known before a job starts;
 * a passive party that demands a preset accepts either form (privacy-policy.ts).
 */
import { resolveParameters } from "../base/parameters/parameters.ts";
import type { FeatureConstraints } from "../data/feature-constraints.ts";
import { treeSizeMax } from "../gbdt/tree/grow.ts";
import { toGrowParameters } from "../gbdt/boost/train.ts";
import {
  formsOf,
  hidingSums,
  isOn,
  presetOf,
  type PrivacyParameters,
  privacyParameters,
} from "../privacy/defences/defences.ts";
import type { SectionValues } from "../protocol/job.ts";
import { whyNotHidden } from "../protocol/hidden-sums.ts";
import { schemeNamed } from "../scheme/registry.ts";

/** More bins per feature and tree, over all nodes that are compared, would make a tree slow on a usual line. */
export const comparedBinsMax = 1024;

export interface FormOfPreset {
  readonly privacy: PrivacyParameters;
  /** Why a preset that could hide sums adds noise to them; null: it hides them, or has no such form. */
  readonly byNoise: string | null;
}

/** @param given what was set besides the preset: a value that was set stays */
export function formOfPreset(
  { training, codec, privacy }: SectionValues,
  given: Readonly<Record<string, unknown>>,
  scheme: string,
  { monotone_constraints: monotone = {} }: Partial<FeatureConstraints>,
): FormOfPreset {
  const { answer_noise: noise } = resolveParameters(privacyParameters, { privacy: privacy.privacy });
  if (!isOn(noise) || given["answer_noise"] !== undefined) return { privacy, byNoise: null };
  const hidden = hidingSums(privacy);
  if (given["hidden_sums"] === true) return { privacy: hidden, byNoise: null };
  const byNoise =
    given["hidden_sums"] === false
      ? "hidden_sums is turned off"
      : schemeNamed(scheme).masksSums !== true
        ? `sums of the scheme ${scheme} cannot be masked`
        : (whyNotHidden({ training, codec, privacy: hidden }) ??
          (Object.values(monotone).some((sign) => sign !== 0)
            ? "there are monotone_constraints"
            : training.enable_categorical
              ? "with enable_categorical a feature may be split by sets of categories"
              : tooMuch(training)));
  return { privacy: byNoise === null ? hidden : privacy, byNoise };
}

/** Which form a job's preset has, and why it adds noise; null: its preset has one form, or its values are its own. */
export function formText(job: SectionValues & { readonly scheme: string }): string | null {
  const preset = presetOf(job.privacy);
  if (preset === null || formsOf(preset).length === 1) return null;
  if (job.privacy.hidden_sums) return `privacy: ${preset} hides sums in this job (hidden_sums)`;
  const byPreset = { ...job, privacy: resolveParameters(privacyParameters, { privacy: preset }) };
  const { byNoise } = formOfPreset(byPreset, {}, job.scheme, {});
  const why = byNoise ?? "hidden_sums is turned off, or there are monotone_constraints";
  return `privacy: ${preset} adds noise to sums in this job (answer_noise) in place of hidden_sums: ${why}`;
}

/** The root and both nodes of each pair are compared. */
function tooMuch(training: SectionValues["training"]): string | null {
  const nodes = 1 + 2 * treeSizeMax(toGrowParameters(training)).pairs;
  return nodes * training.max_bin <= comparedBinsMax
    ? null
    : `${nodes} nodes of ${training.max_bin} bins are more than ${comparedBinsMax} to compare in a tree: ` +
        "lower max_depth or max_bin";
}
