/**
 * What one company writes down about itself: read once, checked strictly, trusted from then on. Paths in a config are
 * relative to the config file.
 */
import { jobSyntax } from "../../base/job-name.ts";
import { logLevels } from "../../record/log-line.ts";
import { defaultScheme } from "../../scheme/registry.ts";
import * as z from "zod";
import { normalisationNames } from "../../psi/normalise.ts";
import type { PrivacyParameters } from "../../privacy/defences/defences.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { groupCountMax } from "../../gbdt/split/interactions.ts";
import { groupSyntax } from "../../protocol/interaction-groups.ts";
import type { ActiveStart } from "../../protocol/active/role.ts";
import { type Job, secureKeyBits } from "../../protocol/job.ts";
import { givenSources, sourceNamed, sourceNames, sourceSchemas } from "../../data/sources/registry.ts";
import { tableFormats } from "../../data/table-reading.ts";
import { forEachColumn } from "../../base/rows/row-columns.ts";
import { purposeCharactersMax } from "../../store/consent-file.ts";
import type { Experiment } from "../experiment.ts";
import { listOf, object, oneOf, text, wholeNumber, yesOrNo } from "../../base/parameters/config-fields.ts";
import { type ActiveSwitch, activeSwitchNames } from "./active-options.ts";
import type { Channel } from "../../transport/pipes/channel.ts";
import type { ConfigFile } from "./config-file.ts";
import { fingerprint } from "./fingerprint-field.ts";
import { openConfig } from "./config-role.ts";

import { channelFields, channelsFrom } from "./channel-config.ts";
import { crewFrom, crewField, type CrewConfig, noTasksWords } from "./crew-config.ts";
import { jobFields, jobFrom, privacyField, privacyFrom, schemeName, withoutJob } from "./job-config.ts";
import { refuseRemoved } from "./removed-options.ts";
import { refuseScoringFields, type ScoringConfig, scoringField, scoringFrom } from "./scoring-config.ts";

const usualPatienceSeconds = 600;
/** No party has answered yet: the address may be wrong. */
const usualFirstContactSeconds = 30;

const amountOf = z.number("must be a number").min(0, "must be 0 or more");
/** Where partners dial this party; left out where all are dialled. */
const listen = object({ host: text, port: wholeNumber(0, 65535) }).optional();

/** With `authority`, peers need a certificate of it; the pinned fingerprint is needed in any case. */
const tls = object({
  certificate: text,
  key: text,
  /** One certificate or several in a file. */
  authority: text.optional(),
  /** Certificates that the authority has revoked (a CRL in PEM form). */
  revoked: text.optional(),
  /** The key, and the token of `tandem serve`, may lie where other users of this machine can read them. */
  insecure_key_file: yesOrNo.default(false),
});

/** "all" leaves out the id and the label only. */
const features = z.union(
  [listOf(text), z.literal("all"), object({ all_but: listOf(text) })],
  "must be a list of columns, 'all', or 'all_but:' with a list of columns",
);

const dataFields = {
  ...sourceSchemas,
  test_path: text.optional(),
  validation_path: text.optional(),
  /** Of all these files; left out: by their names and first lines. */
  format: oneOf(tableFormats).optional(),
  /** CSV: whether the first line has names of columns. */
  header: yesOrNo.optional(),
  id: text,
  features,
  missing: listOf(text).default([]),
  categorical: listOf(text).default([]),
  monotone_constraints: z
    .record(text, z.union([z.literal(1), z.literal(-1), z.literal(0)], "must be 1, -1 or 0"))
    .default({}),
  interaction_constraints: z
    .record(
      z.string().regex(groupSyntax, "must be a name of up to 32 letters, digits, dashes and underscores"),
      listOf(text),
    )
    .refine((groups) => Object.keys(groups).length <= groupCountMax, `must be at most ${groupCountMax} groups`)
    .default({}),
  normalise: listOf(oneOf(normalisationNames as [string, ...string[]] & typeof normalisationNames)).default([]),
  duplicates: oneOf(["refuse", "first", "last"]).default("refuse"),
};

/** Per-row columns of the active party, by name or position. */
const rowColumnFields = forEachColumn(() => text.optional());

const policy = object({
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

/** Keep who was in which node, for an audit of the job. */
const transcript = yesOrNo.default(false);
/** Keep what proves afterwards that this party has followed the protocol: keys and secrets of the job among it. */
const verifiable = yesOrNo.default(true);
const log = object({ level: oneOf(logLevels).default("info") }).prefault({});
const threads = wholeNumber(1, 256).optional();

export const passiveConfig = object({
  name: text,
  listen,
  tls,
  active: listOf(object({ name: text, fingerprint, ...channelFields })).min(1, "must name at least one active party"),
  data: object(dataFields),
  scoring: scoringField,
  policy: policy.prefault({}),
  output: object({
    directory: text,
    transcript,
    verifiable,
    /** Keep the contributions of own features to scores, if the active party sends them. */
    contributions: yesOrNo.default(false),
  }),
  log,
  threads,
  crew: crewField.optional(),
});

const activeSwitchFields = Object.fromEntries(activeSwitchNames.map((name) => [name, yesOrNo.optional()])) as Record<
  ActiveSwitch,
  z.ZodOptional<typeof yesOrNo>
>;

export const activeConfig = object({
  name: text,
  listen,
  passives: listOf(object({ name: text, fingerprint, ...channelFields })).min(
    1,
    "must name at least one passive party",
  ),
  tls,
  data: object({
    ...dataFields,
    label: text,
    positive: text.optional(),
    /** The labels' names in their order. */
    classes: listOf(text).min(2, "must name two or more").optional(),
    ...rowColumnFields,
    test_fraction: z.number("must be a number").gt(0, "must be above 0").lt(1, "must be below 1").optional(),
    validation_fraction: z.number("must be a number").gt(0, "must be above 0").lt(1, "must be below 1").optional(),
    seed: wholeNumber(0, 4294967295).optional(),
  }),
  scoring: scoringField,
  align: yesOrNo.default(true),
  /** A passive party learns which of its ids are common: one that brings more is not aligned with. */
  max_passive_ids: wholeNumber(1, 67_108_864).default(10_000_000),
  /** The model that training continues: a finished job, the id of its model, or a folder with a share in it. */
  warm_start: object({ model: text }).optional(),
  ...jobFields,
  /** What the model is for: owners of passive parties read it before they approve the job. */
  purpose: text.max(purposeCharactersMax, `must be at most ${purposeCharactersMax} characters`).optional(),
  output: object({ directory: text, predictions: text.optional(), transcript, verifiable }),
  ...activeSwitchFields,
  /** Tell passive parties that want it what their own features add to the scores of people who are explained. */
  tell_contributions: yesOrNo.default(false),
  /** How long to wait for parties that are gone before the job stops; the same command continues it. */
  patience_seconds: wholeNumber(0, 604_800).optional(),
  /** How long a party may work on one call. */
  call_seconds: wholeNumber(1, 604_800).default(3600),
  log,
  threads,
  crew: crewField.optional(),
});

export type PassiveConfigInput = z.input<typeof passiveConfig>;
export type ActiveConfigInput = z.input<typeof activeConfig>;
/** Another company, how it is recognised, and how connections to it are made. */
export interface PartnerConfig {
  readonly name: string;
  readonly fingerprint: readonly string[];
  readonly channel: Channel;
}
/** What the policy demands is checked and complete. */
export type PolicyConfig = Omit<z.output<typeof policy>, "privacy"> & { readonly privacy: PrivacyParameters };
export type PassiveConfig = Omit<z.output<typeof passiveConfig>, "policy" | "crew" | "scoring" | "active"> & {
  readonly active: readonly PartnerConfig[];
  readonly scoring: ScoringConfig;
  readonly policy: PolicyConfig;
  readonly experiment: Experiment;
  /** Undefined: this process does it all. */
  readonly crew?: CrewConfig | undefined;
  readonly file?: string | null;
};
/** Its parameters, scheme and key are one job, checked and complete. */
export type ActiveConfig = Omit<
  z.output<typeof activeConfig>,
  keyof typeof jobFields | "patience_seconds" | "crew" | "scoring" | "passives"
> & {
  readonly passives: readonly PartnerConfig[];
  readonly scoring: ScoringConfig;
  /** Undefined: this process does it all. */
  readonly crew?: CrewConfig | undefined;
  /** Where it was read from, for what is read again while the process runs; null: it was an object. */
  readonly file?: string | null;
  readonly patience_seconds: number;
  /** The configured patience, or a shorter one for parties that were never reached. */
  readonly firstContactSeconds: number;
  readonly experiment: Experiment;
  readonly job: Job<ActiveStart>;
};
export type DataConfig = PassiveConfig["data"];

/**
 * @param given the path of a file, or the fields of one
 * @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file, line and field
 */
export async function readPassiveConfig(
  given: string | PassiveConfigInput,
  experiment: Experiment = {},
): Promise<PassiveConfig> {
  const file = await openConfig(given, "passive");
  refuseSourceFields(file);
  refuseRemoved(file);
  const config = file.parse(passiveConfig);
  checkSource(file, config.data);
  if (config.crew !== undefined && (config.policy.max_jobs ?? 1) > 1)
    throw file.error(["policy", "max_jobs"], "field 'policy.max_jobs': with 'crew' it must be 1; leave it out");
  const unknown = config.policy.automatic_for.find((name) => !config.active.some((each) => each.name === name));
  if (unknown !== undefined)
    throw file.error(
      ["policy", "automatic_for"],
      `field 'policy.automatic_for': no active party is named '${unknown}'; the config names ` +
        config.active.map(({ name }) => name).join(", "),
    );
  const from = (path: string): string => file.resolve(path);
  return {
    ...config,
    active: channelsFrom(file, "active", config),
    policy: {
      ...config.policy,
      privacy: privacyFrom(file, ["policy", "privacy"], config.policy.privacy),
      ...(config.policy.webhook && {
        webhook: {
          ...config.policy.webhook,
          secret_file: from(config.policy.webhook.secret_file),
          authority: config.policy.webhook.authority && from(config.policy.webhook.authority),
        },
      }),
    },
    file: file.path,
    tls: tlsFrom(file, config.tls, from),
    data: { ...config.data, ...sourceFrom(config, from) },
    scoring: scoringFrom(file, config.scoring, config.tls.insecure_key_file, from),
    output: { ...config.output, directory: from(config.output.directory) },
    crew: config.crew && crewFrom(file, config.crew, config.name, from),
    experiment,
  };
}

/**
 * @param given the path of a file, or the fields of one
 * @param newJobName names a job that has no name in the config, given the folder of its results
 * @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file, line and field
 */
export async function readActiveConfig(
  given: string | ActiveConfigInput,
  newJobName: (directory: string) => string,
  experiment: Experiment = {},
): Promise<ActiveConfig> {
  const file = await openConfig(given, "active");
  refuseSourceFields(file);
  refuseRemoved(file);
  const from = (path: string): string => file.resolve(path);
  const parsed = file.parse(activeConfig);
  const config = withoutJob(parsed);
  checkSource(file, config.data);
  if (config.data.test_path !== undefined && config.data.test_fraction !== undefined)
    throw file.error(["data", "test_fraction"], "fields 'data.test_path' and 'data.test_fraction' exclude each other");
  if (config.data.validation_path !== undefined && config.data.validation_fraction !== undefined)
    throw file.error(
      ["data", "validation_fraction"],
      "fields 'data.validation_path' and 'data.validation_fraction' exclude each other",
    );
  const repeated = config.passives.findIndex(
    ({ name }, i) => config.passives.findIndex((other) => other.name === name) < i,
  );
  if (repeated !== -1)
    throw file.error(
      ["passives", repeated, "name"],
      `field 'passives[${repeated + 1}].name': two passive parties have the same name`,
    );
  const { directory, predictions } = config.output;
  const job = jobFrom(file, parsed, config.data, () => newJobName(from(directory)));
  const noTasks = config.crew === undefined ? null : noTasksWords(job.scheme);
  if (noTasks !== null) throw file.error(["crew"], `field 'crew': ${noTasks}; leave it out`);
  if (config.crew?.listen !== undefined)
    throw file.error(["crew", "listen"], "field 'crew.listen': an active party has no blocks to send; leave it out");
  return {
    ...config,
    passives: channelsFrom(file, "passives", config),
    job: { ...job, codec: experiment.codec ?? job.codec, shortcuts: experiment.shortcuts, start: null },
    experiment,
    patience_seconds: config.patience_seconds ?? usualPatienceSeconds,
    firstContactSeconds: config.patience_seconds ?? usualFirstContactSeconds,
    file: file.path,
    tls: tlsFrom(file, config.tls, from),
    crew: config.crew && crewFrom(file, config.crew, config.name, from),
    warm_start: config.warm_start && {
      model: jobSyntax.test(config.warm_start.model) ? config.warm_start.model : from(config.warm_start.model),
    },
    data: { ...config.data, ...sourceFrom(config, from) },
    scoring: scoringFrom(file, config.scoring, config.tls.insecure_key_file, from),
    output: {
      ...config.output,
      directory: from(directory),
      predictions: predictions === undefined ? undefined : from(predictions),
    },
  };
}

/** @throws TandemError FILE_FORMAT naming the line */
function tlsFrom(file: ConfigFile, given: PassiveConfig["tls"], from: (path: string) => string): PassiveConfig["tls"] {
  const { authority, revoked } = given;
  if (revoked !== undefined && authority === undefined)
    throw file.error(["tls", "revoked"], "field 'tls.revoked' needs 'tls.authority', whose list it is");
  return {
    ...given,
    certificate: from(given.certificate),
    key: from(given.key),
    authority: authority === undefined ? undefined : from(authority),
    revoked: revoked === undefined ? undefined : from(revoked),
  };
}

function sourceFrom(
  { data, tls: { insecure_key_file: insecureFiles } }: Pick<z.output<typeof passiveConfig>, "data" | "tls">,
  from: (path: string) => string,
): Partial<DataConfig> {
  const { test_path: testPath, validation_path: validationPath } = data;
  const sources = givenSources(data).map((name) => [
    name,
    sourceNamed(name).resolve(data[name], { from, insecureFiles }),
  ]);
  return {
    ...(Object.fromEntries(sources) as Partial<DataConfig>),
    ...(testPath === undefined ? {} : { test_path: from(testPath) }),
    ...(validationPath === undefined ? {} : { validation_path: from(validationPath) }),
  };
}

/** Before the fields are looked at one by one. @throws TandemError FILE_FORMAT naming the line */
function refuseSourceFields(file: ConfigFile): void {
  refuseScoringFields(file);
  for (const name of sourceNames) {
    for (const [field, why] of Object.entries(sourceNamed(name).refused ?? {})) {
      const path = ["data", name, field];
      if (file.hasIn(path)) throw file.error(path, `field '${path.join(".")}' ${why}`);
    }
  }
}

function checkSource(file: ConfigFile, data: DataConfig): void {
  const [first, second] = givenSources(data);
  const [usual, ...others] = sourceNames.map((name) => `'data.${name}'`);
  if (first === undefined)
    throw file.error(["data", sourceNames[0]], `field ${usual} is missing (or ${others.join(", ")})`);
  if (second !== undefined)
    throw file.error(["data", second], `fields 'data.${first}' and 'data.${second}' exclude each other`);
}
