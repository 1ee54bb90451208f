/**
 * A whole federation on one machine: one directory, certificate and process per party, TLS over loopback. `demo` and
 * `simulate` run this; a real deployment runs the same processes on different hosts.
 */
import type { RowColumnChoice } from "../data/row-column.ts";
import type { FeatureConstraints } from "../data/feature-constraints.ts";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { codecBounds } from "../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { Model } from "../gbdt/tree/model.ts";
import type { ActiveConfigInput, PassiveConfigInput } from "../party/config/config.ts";
import type { Experiment } from "../party/experiment.ts";
import { fieldsOfJob } from "../party/config/job-config.ts";
import type { Job } from "../protocol/job.ts";
import type { PartyEvent } from "../record/events.ts";
import type { ActiveResult, PassiveResult } from "../record/events/job-events.ts";
import type { LayoutSummary } from "../record/events/training-events.ts";
import { mergeShares } from "../store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../store/share-files.ts";
import type { TextList } from "../base/text/text-list.ts";
import { writeCsv } from "../data/write-csv.ts";
import type { Identity } from "../transport/certificates.ts";
import { type PartyFiles, type Supervise, type Supervisor, superviseParties } from "./supervisor.ts";

/** Raw cells by column. */
export interface CellTable {
  readonly names: readonly string[];
  readonly columns: readonly TextList[];
}

export interface TextTable extends CellTable {
  readonly columns: readonly (readonly string[])[];
}

export interface FederationParty {
  readonly name: string;
  readonly features: readonly string[];
  /** Constraints on its own features; left out: none. */
  readonly constraints?: FeatureConstraints;
  /** Features that are categorical even if their cells look numeric. */
  readonly categorical?: readonly string[];
  readonly train: CellTable;
  readonly test: CellTable | null;
  /** Validation rows from a file of their own; null or left out: none. */
  readonly validation?: CellTable | null;
}

export interface FederationJob {
  readonly job: Job;
  readonly active: FederationParty & {
    readonly label: string;
    readonly positive: string | undefined;
    /** Class names in the order of the labels; left out: labels are numbers. */
    readonly classes?: readonly string[] | undefined;
    readonly rowColumns?: RowColumnChoice;
  };
  readonly passives: readonly FederationParty[];
  /** Name of the id column in every table. */
  readonly id: string;
  readonly missing: readonly string[];
  readonly predictions: string | undefined;
  /** Folder for the parties' output directories; left out: they are deleted at the end. */
  readonly keep?: { readonly directory: string } | undefined;
  /** Fraction of the training rows that is used for validation. */
  readonly validationFraction?: number | undefined;
  /** An earlier job in the same output directories whose model is the start model. */
  readonly warmStart?: string | undefined;
  /** Where the active party connects in place of a passive party's port; left out: there. */
  readonly lineTo?: ((port: number) => Promise<number>) | undefined;
  readonly onEvent: (event: PartyEvent) => void;
}

export interface FederationResult {
  /** The merged model of all shares: this machine owns every party. */
  readonly model: Model;
  readonly layout: LayoutSummary;
  readonly kernel: string;
  readonly active: ActiveResult;
  readonly passives: readonly PassiveResult[];
  readonly wallSeconds: number;
}

const host = "127.0.0.1";
const treesMax = trainingParameters.num_round.max;

/**
 * Seeds a simulated party's column sampling, together with the job's seed. Not secret, so that the same seed reproduces
 * the model.
 */
export function simulatedSecret(party: number): string {
  return `simulated party ${party}`;
}

/** Seeds a simulated party's noise: another for each seed. That of the default seed is what it has always been. */
export function simulatedNoiseSecret(party: number, { seed }: Pick<TrainingParameters, "seed">): string {
  const secret = simulatedSecret(party);
  return seed === trainingParameters.seed.default ? secret : `${secret}, seed ${seed}`;
}

/** @param supervise starts the parties; default: as processes */
export async function runFederation(
  job: FederationJob,
  supervise: Supervise = superviseParties,
): Promise<FederationResult> {
  const root = await mkdtemp(join(tmpdir(), "tandem-"));
  await chmod(root, 0o700);
  // What a party notices about its part of the table is already known of the whole one.
  const supervisor = supervise((event) => {
    if (event.type !== "notice" || !event.words.startsWith(root)) job.onEvent(event);
  });
  const stop = (): void => supervisor.stop();
  process.once("exit", stop);
  try {
    return await runIn(root, job, supervisor);
  } finally {
    supervisor.stop();
    process.removeListener("exit", stop);
    await rm(root, { recursive: true, force: true });
  }
}

async function runIn(root: string, job: FederationJob, supervisor: Supervisor): Promise<FederationResult> {
  const started = performance.now();
  // Slow to load, and bad input never needs them.
  const [{ createAuthority }, { certificateFingerprint }] = await Promise.all([
    import("../transport/certificates.ts"),
    import("../transport/pinned-certificate.ts"),
  ]);
  const authority = await createAuthority("Tandem on this machine", 90);
  const parties = [job.active, ...job.passives];
  const homes = await Promise.all(
    parties.map(async (party, index) => {
      const directory = join(root, `party-${index}`);
      const identity = await authority.issue(`party ${index}`, [host]);
      await layOut(directory, authority.certificate, identity, party);
      return { directory, fingerprint: certificateFingerprint(identity.certificate) };
    }),
  );
  await Promise.all(
    job.passives.map(async ({ name }, i) => {
      const config = passiveConfig(job, i, homes);
      supervisor.start(name, "party", await writeConfig(homes[i + 1].directory, config, experimentAt(i + 1, job.job)));
    }),
  );
  const ports = await Promise.all(
    job.passives.map(async ({ name }) => {
      const { port } = await supervisor.waitFor(name, "listening");
      return job.lineTo === undefined ? port : job.lineTo(port);
    }),
  );
  const config = activeConfig(job, homes, ports);
  supervisor.start(job.active.name, "train", await writeConfig(homes[0].directory, config, experimentAt(0, job.job)));
  await supervisor.finished();
  const wallSeconds = (performance.now() - started) / 1000;
  return { ...(await collect(job, homes, supervisor)), wallSeconds };
}

/** A party's directory, and the fingerprint that other parties pin. */
interface Home {
  readonly directory: string;
  readonly fingerprint: string;
}

function passiveConfig(job: FederationJob, index: number, homes: readonly Home[]): PassiveConfigInput {
  const passive = job.passives[index];
  const { directory } = homes[index + 1];
  return {
    name: passive.name,
    listen: { host, port: 0 },
    tls: tlsPaths(directory),
    active: [{ name: job.active.name, fingerprint: homes[0].fingerprint }],
    data: dataConfig(job, passive, directory),
    // All parties have the same owner, who allows the job by starting it.
    policy: {
      max_trees: treesMax,
      max_depth: 0,
      schemes: [job.job.scheme],
      lattice_minimums: "root",
      insecure_min_key_bits: 128,
      min_instances: 1,
      max_outputs: trainingParameters.num_class.max,
    },
    output: { directory: outputOf(job, passive.name, directory), transcript: job.keep !== undefined },
  };
}

/** @param ports where the passive parties listen */
function activeConfig(job: FederationJob, homes: readonly Home[], ports: readonly number[]): ActiveConfigInput {
  const { name, label, positive, classes, rowColumns } = job.active;
  const { directory } = homes[0];
  return {
    name,
    ...fieldsOfJob(job.job),
    codec: {}, // the experiment has it
    passives: job.passives.map((passive, i) => ({
      name: passive.name,
      host,
      port: ports[i],
      fingerprint: homes[i + 1].fingerprint,
    })),
    tls: tlsPaths(directory),
    data: {
      ...dataConfig(job, job.active, directory),
      label,
      positive,
      classes: classes && [...classes],
      ...rowColumns,
      validation_fraction: job.validationFraction,
    },
    ...(job.warmStart === undefined ? {} : { warm_start: { model: job.warmStart } }),
    align: false, // the rows were cut from one table
    // For the report, which is made of a kept record.
    ...(job.keep === undefined ? { compare_alone: false } : {}),
    patience_seconds: 0, // a party that died is not restarted here
    // Scores are stored only if the user asked for them.
    output: {
      directory: outputOf(job, name, directory),
      transcript: job.keep !== undefined,
      predictions: resolve(job.predictions ?? join(directory, "predictions.csv")),
    },
  };
}

async function collect(
  job: FederationJob,
  homes: readonly Home[],
  supervisor: Supervisor,
): Promise<Omit<FederationResult, "wallSeconds">> {
  const sharePath = (name: string, index: number): string =>
    join(outputOf(job, name, homes[index].directory), job.job.name, "share.json");
  const active = await readActiveShare(sharePath(job.active.name, 0));
  const passiveShares = await Promise.all(job.passives.map(({ name }, i) => readPassiveShare(sharePath(name, i + 1))));
  return {
    model: mergeShares(active, passiveShares),
    layout: (await supervisor.waitFor(job.active.name, "layout")).layout,
    kernel: (await supervisor.waitFor(job.active.name, "key")).kernel,
    active: (await supervisor.waitFor(job.active.name, "active-result")).result,
    passives: await Promise.all(
      job.passives.map(async ({ name }) => (await supervisor.waitFor(name, "passive-result")).result),
    ),
  };
}

/** Writes a party's directory: its certificate, its private key and its own columns. */
async function layOut(directory: string, authority: string, identity: Identity, party: FederationParty): Promise<void> {
  await mkdir(directory, { mode: 0o700 });
  const paths = tlsPaths(directory);
  await writeFile(paths.authority, authority);
  await writeFile(paths.certificate, identity.certificate);
  await writeFile(paths.key, identity.key, { mode: 0o600 });
  await writeCsv(join(directory, "train.csv"), party.train.names, party.train.columns, { mode: 0o600 });
  if (party.validation)
    await writeCsv(join(directory, "validation.csv"), party.validation.names, party.validation.columns, {
      mode: 0o600,
    });
  if (party.test !== null)
    await writeCsv(join(directory, "test.csv"), party.test.names, party.test.columns, { mode: 0o600 });
}

function outputOf({ keep }: FederationJob, party: string, home: string): string {
  return keep === undefined ? home : join(keep.directory, party);
}

function tlsPaths(directory: string) {
  return {
    authority: join(directory, "authority.pem"),
    certificate: join(directory, "certificate.pem"),
    key: join(directory, "key.pem"),
  };
}

function dataConfig(job: FederationJob, party: FederationParty, directory: string) {
  return {
    path: join(directory, "train.csv"),
    // These files have headers. The user was warned if the first line of the original looks like a row.
    header: true,
    test_path: party.test === null ? undefined : join(directory, "test.csv"),
    validation_path: party.validation ? join(directory, "validation.csv") : undefined,
    id: job.id,
    features: [...party.features],
    missing: [...job.missing],
    ...party.constraints,
    categorical: [...(party.categorical ?? [])],
  };
}

/** All parties have one owner, so the secrets are fixed and the same seed reproduces the model. */
function experimentAt(party: number, { codec, shortcuts, training }: Job): Experiment {
  return {
    codec,
    ...(shortcuts === undefined ? {} : { shortcuts }),
    samplingSecret: simulatedSecret(party),
    noiseSecret: simulatedNoiseSecret(party, training),
    resolutionBitsMax: 50,
    paddingMax: codecBounds.padding.max,
    allowsUnpacked: true,
    dailyLimits: { ids: 1e12, histogram_requests: 1e12 },
  };
}

async function writeConfig(
  directory: string,
  config: ActiveConfigInput | PassiveConfigInput,
  experiment: Experiment,
): Promise<PartyFiles> {
  const files = { config: join(directory, "config.json"), experiment: join(directory, "experiment.json") };
  await writeFile(files.config, JSON.stringify(config), { mode: 0o600 });
  await writeFile(files.experiment, JSON.stringify(experiment), { mode: 0o600 });
  return files;
}
