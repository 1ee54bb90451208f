/**
 * What one company writes down about itself: read once, checked strictly, trusted from then on. Paths in a config are
 * relative to the config file.
 */
import { jobSyntax } from "../../base/job-name.ts";
import { logLevels } from "../../record/log-line.ts";
import * as z from "zod";
import type { ActiveStart } from "../../protocol/active/role.ts";
import type { Job } from "../../protocol/job.ts";
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
import { checkSource, dataFields, refuseSourceFields, rowColumnFields, sourceFrom } from "./data-config.ts";
import { jobFields, jobFrom, withoutJob } from "./job-config.ts";
import { policyFields, policyFrom, type PolicyConfig } from "./policy-config.ts";
import { refuseRemoved } from "./removed-options.ts";
import { refuseScoringFields, type ScoringConfig, scoringField, scoringFrom } from "./scoring-config.ts";

const usualPatienceSeconds = 600;
/** No party has answered yet: the address may be wrong. */
const usualFirstContactSeconds = 30;

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
  policy: policyFields.prefault({}),
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

/**
 * @param given the path of a file, or the fields of one
 * @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file, line and field
 */
export async function readPassiveConfig(
  given: string | PassiveConfigInput,
  experiment: Experiment = {},
): Promise<PassiveConfig> {
  const file = await openConfig(given, "passive");
  refuseScoringFields(file);
  refuseSourceFields(file);
  refuseRemoved(file);
  const config = file.parse(passiveConfig);
  checkSource(file, config.data);
  if (config.crew !== undefined && (config.policy.max_jobs ?? 1) > 1)
    throw file.error(["policy", "max_jobs"], "field 'policy.max_jobs': with 'crew' it must be 1; leave it out");
  const from = (path: string): string => file.resolve(path);
  return {
    ...config,
    active: channelsFrom(file, "active", config),
    policy: policyFrom(
      file,
      config.policy,
      config.active.map(({ name }) => name),
    ),
    file: file.path,
    tls: tlsFrom(file, config.tls, from),
    data: { ...config.data, ...sourceFrom(config.data, config.tls.insecure_key_file, from) },
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
  refuseScoringFields(file);
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
    data: { ...config.data, ...sourceFrom(config.data, config.tls.insecure_key_file, from) },
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
