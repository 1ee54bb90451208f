/**
 * The jobs under fault injection: one for every kind of rounds, rows and shares, on small tables.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codecWith } from "../../../src/base/parameters/parameters.ts";
import { readActiveConfig } from "../../../src/party/config/config.ts";
import type { Experiment } from "../../../src/party/experiment.ts";
import { readActiveShare } from "../../../src/store/share-files.ts";
import { activeName, jobName, type Scenario, simulateUndisturbed } from "./fault-simulation.ts";
import { ProcessWorld } from "../processes.ts";
import { ScenarioTables, type TableTerms } from "./scenario-tables.ts";

const earlierJob = "earlier";
const passiveNames = ["shop", "telecom"];
/** Interaction groups of the passive parties' columns; shop1 stands alone. */
const ownGroups = [{ near: ["shop2"] }, { near: ["telecom2"], far: ["telecom1", "telecom2"] }];

interface Terms extends TableTerms {
  readonly validationFraction?: number;
  /** Of the passive parties. */
  readonly minimums?: { readonly min_instances_per_node: number; readonly min_instances_per_candidate: number };
  /** Of the last passive party's first column. */
  readonly monotone?: -1 | 1;
  /** Features interact in groups only. */
  readonly groups?: true;
  readonly codec?: object;
  /** Default: paillier. */
  readonly scheme?: string;
  readonly answerNoise?: number;
  readonly training: Record<string, unknown>;
  /** Warm start from the model of an earlier job that was trained like this. */
  readonly before?: object;
}

const small = { num_round: 3, max_depth: 3, max_bin: 6, min_child_weight: 0 };
const drops = { booster: "dart", rate_drop: 0.5, one_drop: true };
/** What a job can be: a seed takes one of them. */
const allTerms: readonly Terms[] = [
  { name: "plain", rowCount: 120, training: small },
  {
    name: "several classes",
    rowCount: 110,
    classes: 3,
    training: { ...small, num_round: 2, objective: "multi:softprob", num_class: 3, subsample: 0.8 },
  },
  {
    name: "sampled",
    rowCount: 120,
    training: {
      ...small,
      sampling_method: "goss",
      top_rate: 0.3,
      other_rate: 0.3,
      colsample_bytree: 0.8,
      colsample_bylevel: 0.8,
      colsample_bynode: 0.8,
    },
  },
  {
    name: "early stopping",
    rowCount: 120,
    noise: 0.5,
    validationFraction: 0.3,
    training: { ...small, num_round: 9, eta: 1, early_stopping_rounds: 2, eval_metric: ["auc", "logloss"] },
  },
  {
    name: "a forest, leaf by leaf",
    rowCount: 120,
    training: {
      ...small,
      num_round: 2,
      num_parallel_tree: 2,
      subsample: 0.7,
      grow_policy: "lossguide",
      max_leaves: 5,
      local_rounds: 1,
    },
  },
  {
    name: "classes stopped early",
    rowCount: 100,
    classes: 3,
    noise: 0.4,
    validationFraction: 0.3,
    training: {
      ...small,
      num_round: 6,
      eta: 0.5,
      objective: "multi:softprob",
      num_class: 3,
      early_stopping_rounds: 1,
      colsample_bynode: 0.7,
    },
  },
  {
    name: "small groups suppressed",
    rowCount: 120,
    minimums: { min_instances_per_node: 15, min_instances_per_candidate: 6 },
    training: { ...small, colsample_bynode: 0.8 },
  },
  { name: "categories", rowCount: 120, categories: true, training: { ...small, enable_categorical: true } },
  {
    name: "validation files",
    rowCount: 130,
    noise: 0.5,
    validationFile: true,
    training: { ...small, num_round: 9, eta: 1, early_stopping_rounds: 2, eval_metric: ["auc"] },
  },
  {
    name: "several outputs, unbatched",
    rowCount: 110,
    classes: 3,
    codec: { codec: "unbatched" },
    training: { ...small, objective: "multi:softprob", num_class: 3, multi_strategy: "multi_output_tree" },
  },
  {
    name: "constraints, in the paper's slots",
    rowCount: 120,
    monotone: 1,
    groups: true,
    codec: { layout: "paper" },
    training: small,
  },
  { name: "aligned", rowCount: 60, align: true, training: small },
  { name: "noise in answers", rowCount: 120, answerNoise: 0.5, training: { ...small, colsample_bylevel: 0.8 } },
  {
    name: "trees dropped, side by side, stopped early",
    rowCount: 100,
    noise: 0.3,
    validationFraction: 0.3,
    training: {
      ...small,
      ...drops,
      max_depth: 2,
      num_round: 9,
      num_parallel_tree: 2,
      early_stopping_rounds: 2,
      eval_metric: ["logloss"],
    },
  },
  {
    name: "trees dropped, warm start",
    rowCount: 110,
    noise: 0.5,
    before: { num_round: 2 },
    training: { ...small, ...drops, max_depth: 4 },
  },
  {
    name: "warm start",
    rowCount: 110,
    classes: 3,
    before: { num_round: 1 },
    training: { ...small, num_round: 2, objective: "multi:softprob", num_class: 3, colsample_bytree: 0.8 },
  },
];

const otherSchemes: readonly Terms[] = [
  { name: "curve", scheme: "curve", rowCount: 120, training: small },
  {
    name: "curve, rows and columns drawn, noise",
    scheme: "curve",
    rowCount: 120,
    noise: 0.5,
    training: { ...small, subsample: 0.8, colsample_bynode: 0.7 },
  },
  { name: "hidden members, interactions", scheme: "lattice", rowCount: 200, groups: true, training: small },
  {
    name: "hidden members, forests of several classes",
    scheme: "lattice",
    rowCount: 110,
    classes: 3,
    training: {
      ...small,
      num_round: 1,
      num_parallel_tree: 2,
      objective: "multi:softprob",
      num_class: 3,
      subsample: 0.8,
    },
  },
  {
    name: "hidden members, columns drawn, stopped early",
    scheme: "lattice",
    rowCount: 120,
    noise: 0.5,
    validationFraction: 0.3,
    training: { ...small, num_round: 9, eta: 1, early_stopping_rounds: 2, eval_metric: ["auc"], colsample_bynode: 0.7 },
  },
];

export interface Scenarios {
  readonly all: readonly Scenario[];
  /** Half of the seeds take the plain one. */
  of(seed: number): Scenario;
  close(): Promise<void>;
}

/** In a folder of their own; `close` removes it. */
export async function prepareScenarios(): Promise<Scenarios> {
  const root = await mkdtemp(join(tmpdir(), "tandem-faults-"));
  // Keys and certificates are the same in all scenarios; every scenario writes tables of its own.
  const noTable = { header: ["id"], rows: [] };
  const names = [activeName, ...passiveNames];
  const companies = await ProcessWorld.found(
    join(root, "companies"),
    Object.fromEntries(names.map((name) => [name, noTable])),
    { active: { threads: 1 }, passive: { threads: 1 }, experiment: experimentOf },
  );
  const all = await Promise.all(
    [...allTerms, ...otherSchemes].map((terms, i) => scenario(companies.copy(join(root, String(i))), terms)),
  );
  const [plain, ...others] = all;
  return {
    all,
    of: (seed) => (seed % 2 === 1 ? plain : others[(seed / 2) % others.length]),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

async function scenario(world: ProcessWorld, terms: Terms): Promise<Scenario> {
  const { align = false, validationFraction, minimums, monotone, groups, codec = {}, before } = terms;
  const { training, answerNoise = 0, scheme = "paillier" } = terms;
  const tables = new ScenarioTables(world.root, terms);
  const active = world.writeActive(jobName, {
    data: {
      ...(await tables.writeActive()),
      label: "label",
      positive: undefined,
      interaction_constraints: groups ? { near: ["a"], far: ["a"] } : {},
      test_fraction: 0.2,
      ...(validationFraction === undefined ? {} : { validation_fraction: validationFraction }),
    },
    align,
    training,
    privacy: { answer_noise: answerNoise },
    scheme,
    insecure_key_bits: scheme === "paillier" ? 128 : undefined,
  });
  const passives = world.shops.map(async (shop, i) => {
    const isConstrained = monotone !== undefined && i === world.shops.length - 1;
    return world.passiveConfig(shop, {
      data: {
        id: "id",
        features: "all",
        ...(await tables.writePassive(shop.name, i)),
        monotone_constraints: isConstrained ? { [`${shop.name}1`]: monotone } : {},
        interaction_constraints: groups ? ownGroups[i] : {},
      },
      policy: {
        schemes: [scheme],
        insecure_min_key_bits: 128,
        min_instances: 1,
        lattice_minimums: "root",
        ...minimums,
      },
    });
  });
  const alone = {
    name: terms.name,
    active: await readActiveConfig(active, () => jobName, { ...experimentOf(activeName), codec: codecWith(codec) }),
    passives: await Promise.all(passives),
    startTrees: 0,
  };
  return before === undefined ? alone : afterEarlierJob(alone, before);
}

function experimentOf(name: string): Experiment {
  return { samplingSecret: `columns of ${name}`, noiseSecret: `noise of ${name}` };
}

/** Shares of an earlier job are on a real disk: they are not written any more. */
async function afterEarlierJob(scenario: Scenario, before: object): Promise<Scenario> {
  const { active, passives } = scenario;
  const { files } = await simulateUndisturbed({
    ...scenario,
    active: { ...active, job: { ...active.job, training: { ...active.job.training, ...before } } },
  });
  for (const { name, output } of [active, ...passives]) {
    const folder = join(output.directory, earlierJob);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "share.json"), files.get(`${name}/share.json`) ?? "");
  }
  const { trees } = await readActiveShare(join(active.output.directory, earlierJob, "share.json"));
  return { ...scenario, active: { ...active, warm_start: { model: earlierJob } }, startTrees: trees.length };
}
