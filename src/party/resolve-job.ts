/**
 * Resolves a job from a config, the command line or code. Parameters get their defaults, and combinations that are
 * invalid for any data are refused.
 */
import { TandemError } from "../base/error.ts";
import { type CodecParameters, codecWith, resolveParameters } from "../base/parameters/parameters.ts";
import type { FeatureConstraints } from "../data/feature-constraints.ts";
import { checkForest, checkGrowth } from "../gbdt/boost/train.ts";
import { unusedParameters } from "../gbdt/parameters/unused-parameters.ts";
import { groupText } from "../protocol/interaction-groups.ts";
import { checkHiddenSums } from "../protocol/hidden-sums.ts";
import { type Job, jobSections, mapSections, secureKeyBits, type SectionValues } from "../protocol/job.ts";
import { noiseIn } from "../protocol/job-parameters.ts";
import { checkScoreNoise } from "../scheme/masked/score-noise.ts";
import { chooseScheme, defaultScheme, schemeNamed } from "../scheme/registry.ts";
import { formOfPreset } from "./preset-form.ts";
import { checkDefences } from "./privacy-policy.ts";

/** Values that are left out have their defaults. */
export interface GivenJob extends GivenSections {
  readonly name?: string | undefined;
  readonly scheme?: string | undefined;
  readonly keyBits?: number | undefined;
  readonly insecureKeyBits?: number | undefined;
  /** Those of the active party's features name the interaction groups of the job. */
  readonly constraints?: Partial<FeatureConstraints> | undefined;
}

export type GivenSections = { readonly [section in keyof SectionValues]?: GivenValues | undefined };
type GivenValues = Readonly<Record<string, unknown>>;

/**
 * Makes the error for a field of the config, or for the option that stands for it.
 * @param what a whole sentence, or what follows the field's name
 */
export type Refuse = (field: readonly string[], what: string, form: "sentence" | "after field") => TandemError;

const asUsage: Refuse = (field, what, form) =>
  new TandemError("USAGE", form === "sentence" ? what : `${field.join(".")} ${what}`);

/** @throws what `refuse` makes */
export function resolveJob(given: GivenJob, refuse: Refuse = asUsage): Job {
  const { name = "job", scheme = defaultScheme, constraints = {} } = given;
  const asked = resolveSections(given, refuse);
  const { privacy } = formOfPreset(asked, given.privacy ?? {}, scheme, constraints);
  const sections = { ...asked, privacy };
  const { training } = sections;
  refusing(["training", "max_depth"], refuse, () => checkGrowth(training));
  refusing(["training", "num_parallel_tree"], refuse, () => checkForest(training));
  refusing(["training"], refuse, () => unusedParameters(training));
  refusing(["privacy"], refuse, () => noiseIn(sections));
  refusing(["privacy", "hidden_sums"], refuse, () => checkHiddenSums(sections));
  refusing(["privacy", "score_noise"], refuse, () => checkScoreNoise(privacy, false));
  if (given.keyBits !== undefined && given.insecureKeyBits !== undefined)
    throw refuse(["insecure_key_bits"], "and 'key_bits' exclude each other", "after field");
  const keyBitsGiven =
    given.insecureKeyBits !== undefined ? "insecure_key_bits" : given.keyBits !== undefined ? "key_bits" : null;
  for (const { field, advice } of schemeNamed(scheme).conflicts({ keyBitsGiven }))
    throw refuse(field, advice, "after field");
  const keyBits = given.insecureKeyBits ?? given.keyBits ?? secureKeyBits;
  const choice = chooseScheme(scheme, { keyBits, insecureKey: given.insecureKeyBits !== undefined });
  refusing(["privacy"], refuse, () => checkDefences(privacy, scheme));
  const groups = Object.keys(constraints.interaction_constraints ?? {});
  return { name, ...sections, ...choice, interactionGroups: groupText(groups), start: null };
}

/** Every section with its defaults. @throws what `refuse` makes, for the parameter that is wrong */
export function resolveSections(given: GivenSections, refuse: Refuse = asUsage): SectionValues {
  const sections = mapSections((section) => {
    const table = jobSections[section];
    const values = given[section] ?? {};
    for (const [name, value] of Object.entries(values))
      refusing([section, name], refuse, () => resolveParameters(table, { [name]: value }));
    return refusing([section], refuse, () => resolveParameters(table, values));
  });
  return { ...sections, codec: codecWith(sections.codec as Partial<CodecParameters>) } as SectionValues;
}

/** Names the field of a mistake. */
function refusing<T>(field: readonly string[], refuse: Refuse, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof TandemError ? refuse(field, error.message, "sentence") : error;
  }
}
