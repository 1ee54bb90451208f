/** The policy of a passive party: what it allows active parties, and what it demands of their jobs. */
import * as z from "zod";
import { listOf, object, oneOf, text, wholeNumber, yesOrNo } from "../../base/parameters/config-fields.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { PrivacyParameters } from "../../privacy/defences/defences.ts";
import { secureKeyBits } from "../../protocol/job.ts";
import { defaultScheme } from "../../scheme/registry.ts";
import type { ConfigFile } from "./config-file.ts";
import { privacyField, privacyFrom, schemeName } from "./job-config.ts";

const amountOf = z.number("must be a number").min(0, "must be 0 or more");

export const policyFields = object({
  max_trees: wholeNumber(1, 100_000).default(1000),
  /** 0: no limit. */
  max_depth: wholeNumber(0, 16).default(10),
  min_key_bits: wholeNumber(secureKeyBits, 4096).default(secureKeyBits),
  insecure_min_key_bits: wholeNumber(128, 4096).optional(),
  max_active_ids: wholeNumber(1, 67_108_864).default(10_000_000),
  min_instances: wholeNumber(1, 67_108_864).default(100),
  min_instances_per_node: wholeNumber(1, 67_108_864).default(1),
  min_instances_per_candidate: wholeNumber(1, 67_108_864).default(1),
  schemes: listOf(schemeName).default([defaultScheme]),
  /** Where minimums must hold: everywhere, so that no scheme is allowed that hides who is in a node; or at the root. */
  lattice_minimums: oneOf(["everywhere", "root"]).default("everywhere"),
  scoring: yesOrNo.default(true),
  /** With which models: all that are not retired, or those in this party's registry. */
  scoring_models: oneOf(["all", "registered"]).default("all"),
  /** May the active party learn which of this party's splits of one tree share a feature? */
  explanations: yesOrNo.default(false),
  /** May the active party learn what each column is worth for its label, and of which name? */
  vetting: oneOf(["refused", "unnamed", "named"]).default("refused"),
  warm_start: yesOrNo.default(true),
  max_scoring_ids: wholeNumber(1, 1_000_000).default(10_000),
  /** Masked scores of one person with one model that an active party may have, in all. */
  max_scores_per_person: wholeNumber(1, 1_000_000_000).default(20),
  /** What a job must bring at least. */
  privacy: privacyField,
  /** Values of a person that a model may predict at once: its classes. Each has room for marks in every sum. */
  max_outputs: wholeNumber(1, trainingParameters.num_class.max).default(1),
  /** Fewer summed people in a tree than this are refused. */
  min_instances_per_tree: wholeNumber(1, 67_108_864).default(1),
  /** Of one active party: beyond this no new job or alignment is begun. */
  max_unfinished_jobs: wholeNumber(1, 1_000_000).default(100),
  max_unfinished_megabytes: wholeNumber(1, 1_000_000_000).default(4096),
  /** Alignments and jobs at once; others wait. Left out: 2, and 1 with workers. */
  max_jobs: wholeNumber(1, 16).optional(),
  /** Estimated memory of all of them together. Left out: half of the machine's. */
  max_jobs_megabytes: wholeNumber(1, 1_000_000_000).optional(),
  /** Whether a person approves jobs and alignments before they begin. */
  approval: oneOf(["automatic", "required"]).default("automatic"),
  /** Active parties whose requests are approved automatically all the same. */
  automatic_for: listOf(text).default([]),
  /** How long an approval that no job has used, a denial, and a request that is not repeated are kept. */
  approval_days: wholeNumber(1, 365).default(7),
  /** A server of this company that is informed when a request waits. */
  webhook: object({
    url: z.url({ protocol: /^https$/, error: "must be an https address" }),
    secret_file: text,
    authority: text.optional(),
  }).optional(),
  /** What one active party may have, over all of its jobs. */
  budget: object({
    sums_per_person: amountOf.optional(),
    noisy_sums_per_person: amountOf.optional(),
    outcomes_per_person: amountOf.optional(),
    scored_people: amountOf.optional(),
    vettings: wholeNumber(0, 1_000_000).default(20),
    /** What it may ask for in one day (of UTC). */
    daily: object({
      /** 20 times this party's rows, and 10,000 at least, where it is left out. */
      ids: wholeNumber(0, 1_000_000_000_000).optional(),
    }).prefault({}),
  }).prefault({}),
});

type Given = z.output<typeof policyFields>;
/** What the policy demands is checked and complete. */
export type PolicyConfig = Omit<Given, "privacy"> & { readonly privacy: PrivacyParameters };

/** @param partners the active parties of the config @throws TandemError FILE_FORMAT naming the line */
export function policyFrom(file: ConfigFile, policy: Given, partners: readonly string[]): PolicyConfig {
  const unknown = policy.automatic_for.find((name) => !partners.includes(name));
  if (unknown !== undefined)
    throw file.error(
      ["policy", "automatic_for"],
      `field 'policy.automatic_for': no active party is named '${unknown}'; the config names ${partners.join(", ")}`,
    );
  const { webhook } = policy;
  return {
    ...policy,
    privacy: privacyFrom(file, ["policy", "privacy"], policy.privacy),
    ...(webhook && {
      webhook: {
        ...webhook,
        secret_file: file.resolve(webhook.secret_file),
        authority: webhook.authority && file.resolve(webhook.authority),
      },
    }),
  };
}
