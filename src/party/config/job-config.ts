/** The fields of the active party's config that are its job: read, resolved, and written again. */
import type { FeatureConstraints } from "../../data/feature-constraints.ts";
import * as z from "zod";
import { jobSyntax } from "../../base/job-name.ts";
import { TandemError } from "../../base/error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { presets, privacyParameters, type PrivacyParameters } from "../../privacy/defences/defences.ts";
import { type Job, type JobSection, mapSections, secureKeyBits, valuesIn } from "../../protocol/job.ts";
import { defaultScheme, isScheme, schemeNames } from "../../scheme/registry.ts";
import { resolveJob } from "../resolve-job.ts";
import { mustBeOneOf, oneOf, text, wholeNumber } from "../../base/parameters/config-fields.ts";
import type { ConfigFile } from "./config-file.ts";

export const schemeName = text.refine(isScheme, { error: ({ input }) => mustBeOneOf(schemeNames(), input) });

/** A preset by its name, or fields of their own: `preset`, and what differs from it. */
export const privacyField = z
  .union([oneOf(presets), z.record(z.string(), z.unknown())], {
    error: ({ input }) => `${mustBeOneOf(presets, input)}; or have fields of its own`,
  })
  .default("exact");

export const jobFields = {
  job: text.optional(),
  ...mapSections(() => z.record(z.string(), z.unknown()).default({})),
  privacy: privacyField,
  scheme: schemeName.default(defaultScheme),
  key_bits: wholeNumber(secureKeyBits, 4096).optional(),
  insecure_key_bits: z.int("must be a whole number").optional(), // the scheme says what sizes there are
};

const jobShape = z.strictObject(jobFields);
type JobFields = z.output<typeof jobShape>;

/**
 * @param newName names a job that has no name in the config
 * @throws TandemError FILE_FORMAT naming file, line and field
 */
export function jobFrom(
  file: ConfigFile,
  fields: JobFields,
  constraints: Partial<FeatureConstraints>,
  newName: () => string,
): Job {
  const { job: name = newName(), scheme, key_bits: keyBits, insecure_key_bits: insecureKeyBits } = fields;
  if (!jobSyntax.test(name))
    throw file.error(
      ["job"],
      "field 'job': must be up to 64 letters, digits, dots, dashes and underscores, with a letter or digit in front",
    );
  const sections = mapSections((section) =>
    section === "privacy" ? privacyValues(file, ["privacy"], fields.privacy) : fields[section],
  );
  return resolveJob({ name, ...sections, scheme, keyBits, insecureKeyBits, constraints }, (field, what, form) =>
    file.error(field, form === "sentence" ? withPreset(field, what) : `field '${field.join(".")}' ${what}`),
  );
}

/** What a config says that resolves to this job. */
export function fieldsOfJob(job: Job): z.input<typeof jobShape> {
  const { keyBits } = job.schemeParameters;
  const { privacy: preset, ...defences } = job.privacy;
  return {
    job: job.name,
    ...mapSections((section) => valuesIn(job, section)),
    privacy: { preset, ...defences },
    scheme: job.scheme,
    ...(keyBits === undefined ? {} : { [keyBits < secureKeyBits ? "insecure_key_bits" : "key_bits"]: keyBits }),
  };
}

/** The config without what `jobFrom` has taken. */
export function withoutJob<C extends JobFields>(config: C): Omit<C, keyof JobFields> {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !Object.hasOwn(jobFields, field))) as Omit<
    C,
    keyof JobFields
  >;
}

/** @throws TandemError FILE_FORMAT naming the field */
export function privacyFrom(
  file: ConfigFile,
  path: readonly string[],
  given: z.output<typeof privacyField>,
): PrivacyParameters {
  try {
    return resolveParameters(privacyParameters, privacyValues(file, path, given));
  } catch (error) {
    if (!(error instanceof TandemError) || error.code !== "USAGE") throw error;
    throw file.error(path, withPreset(path, error.message));
  }
}

function privacyValues(
  file: ConfigFile,
  path: readonly string[],
  given: z.output<typeof privacyField>,
): Record<string, unknown> {
  if (typeof given === "string") return { privacy: given };
  const { preset = "exact", ...others } = given;
  if ("privacy" in others) throw file.error([...path, "privacy"], `the preset is named by 'preset'`);
  return { privacy: preset, ...others };
}

/** In a config the preset has a field of its own. */
function withPreset(field: readonly string[], message: string): string {
  const section: JobSection = "privacy";
  if (!field.includes(section)) return message;
  const words = message.replaceAll(/'privacy'|parameter privacy/g, "'preset'");
  return `field '${field.slice(0, field.indexOf(section) + 1).join(".")}': ${words}`;
}
