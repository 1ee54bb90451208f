/**
 * The jobs that are broken on purpose: one for every way in which rounds, rows and shares differ, on small data of
 * their own.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "../../base/random.ts";
import { writeCsv } from "../../data/write-csv.ts";
import { readActiveConfig, readPassiveConfig } from "../../party/config.ts";
import { readActiveShare } from "../../store/share-files.ts";
import { activeName, jobName, type Scenario, simulateFaults } from "./fault-simulation.ts";

const earlierJob = "earlier";
const passiveNames = ["shop", "telecom"];

interface Terms {
  readonly name: string;
  readonly rowCount: number;
  /** Rows are in the same order everywhere, or aligned first. */
  readonly align?: boolean;
  readonly classes?: number;
  readonly validationFraction?: number;
  /** The last rows of everybody stand in files of their own. */
  readonly validationFile?: true;
  /** Passive parties' last columns are text. */
  readonly categories?: true;
  /** How many of the rows have a label that means nothing: validation soon stops improving. */
  readonly noise?: number;
  /** Of the passive parties. */
  readonly minimums?: { readonly min_instances_per_node: number; readonly min_instances_per_candidate: number };
  /** Of the last passive party's first column. */
  readonly monotone?: -1 | 1;
  readonly codec?: object;
  readonly training: object;
  /** Goes on from the model of an earlier job that was trained like this. */
  readonly before?: object;
}

const small = { num_round: 3, max_depth: 3, max_bin: 6, min_child_weight: 0 };
/** What a job can be: a seed takes one of them. */
const allTerms: readonly Terms[] = [
  { name: "plain", rowCount: 200, training: small },
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
    name: "leaf by leaf",
    rowCount: 120,
    training: { ...small, grow_policy: "lossguide", max_leaves: 5, local_rounds: 1 },
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
    name: "small groups withheld",
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
  { name: "monotone, in the paper's slots", rowCount: 120, monotone: 1, codec: { layout: "paper" }, training: small },
  { name: "aligned", rowCount: 60, align: true, training: small },
  {
    name: "warm start",
    rowCount: 110,
    classes: 3,
    before: { num_round: 1 },
    training: { ...small, num_round: 2, objective: "multi:softprob", num_class: 3, colsample_bytree: 0.8 },
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
  const all = await Promise.all(allTerms.map((terms, i) => scenario(join(root, String(i)), terms)));
  const [plain, ...others] = all;
  return {
    all,
    of: (seed) => (seed % 2 === 1 ? plain : others[(seed / 2) % others.length]),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

async function scenario(
  root: string,
  {
    name: scenarioName,
    rowCount,
    align = false,
    classes = 2,
    validationFraction,
    validationFile,
    categories,
    noise = 0,
    minimums,
    monotone,
    codec = {},
    training,
    before,
  }: Terms,
): Promise<Scenario> {
  await mkdir(root);
  const random = new SeededRandom(`faults ${scenarioName}`);
  const columns = Array.from({ length: 5 }, () => Array.from({ length: rowCount }, () => random.normal()));
  const labels = columns[0].map((x, i) => {
    if (random.uniform() < noise) return String(Math.floor(random.uniform() * classes));
    const score = x - columns[2][i] + (columns[3][i] > 0 ? columns[4][i] : 0) + 0.5 * random.normal();
    return String(score > 0 ? 1 : classes > 2 && score < -1 ? 2 : 0);
  });
  const ids = labels.map((_, i) => `p${1000 + i}`);
  const cell = (value: number, isText: boolean): string =>
    isText ? `kind ${Math.round(2 * value)}` : value.toFixed(3);
  const cells = (column: number, isText = false): string[] =>
    columns[column].map((value) => (random.uniform() < 0.05 ? "" : cell(value, isText)));
  const write = async (
    name: string,
    names: string[],
    values: string[][],
  ): Promise<{ path: string; validation_path?: string }> => {
    // Where people are aligned, every party knows others, in an order of its own.
    const order = align ? Array.from(random.permutation(rowCount)).slice(0, rowCount - 6) : ids.map((_, i) => i);
    const file = async (fileName: string, rows: readonly number[]): Promise<string> => {
      const path = join(root, fileName);
      await writeCsv(
        path,
        ["id", ...names],
        [ids, ...values].map((column) => rows.map((row) => column[row])),
      );
      return path;
    };
    if (!validationFile) return { path: await file(`${name}.csv`, order) };
    const trained = Math.round(0.7 * rowCount);
    return {
      path: await file(`${name}.csv`, order.slice(0, trained)),
      validation_path: await file(`${name}-validation.csv`, order.slice(trained)),
    };
  };
  const tls = { certificate: "unused", key: "unused" };
  const configFile = async (name: string, config: object): Promise<string> => {
    const path = join(root, `${name}.json`);
    await writeFile(
      path,
      JSON.stringify({
        name,
        tls,
        sampling_secret: `columns of ${name}`,
        output: { directory: name },
        threads: 1,
        ...config,
      }),
    );
    return path;
  };
  const fingerprint = "0".repeat(64);
  const data = { id: "id", features: "all" };
  const active = await configFile(activeName, {
    job: jobName,
    passives: passiveNames.map((name) => ({ name, host: "simulated", port: 1, fingerprint })),
    data: {
      ...data,
      ...(await write(activeName, ["a", "label"], [cells(0), labels])),
      label: "label",
      test_fraction: 0.2,
      ...(validationFraction === undefined ? {} : { validation_fraction: validationFraction }),
    },
    align,
    training,
    codec,
    insecure_key_bits: 128,
  });
  const passives = await Promise.all(
    passiveNames.map(async (name, i) => {
      const files = await write(name, [`${name}1`, `${name}2`], [cells(1 + 2 * i), cells(2 + 2 * i, categories)]);
      const monotone_constraints =
        monotone === undefined || i < passiveNames.length - 1 ? {} : { [`${name}1`]: monotone };
      const policy = { insecure_min_key_bits: 128, min_instances: 1, ...minimums };
      return configFile(name, {
        listen: { host: "simulated", port: 1 },
        active: [{ name: activeName, fingerprint }],
        data: { ...data, ...files, monotone_constraints },
        policy,
      });
    }),
  );
  const alone = {
    name: scenarioName,
    active: await readActiveConfig(active, () => jobName),
    passives: await Promise.all(passives.map(readPassiveConfig)),
    startTrees: 0,
  };
  return before === undefined ? alone : afterEarlierJob(alone, before);
}

/** The shares of an earlier job lie on real disks: nobody writes them any more. */
async function afterEarlierJob(scenario: Scenario, before: object): Promise<Scenario> {
  const { active, passives } = scenario;
  const { files } = await simulateFaults(
    { ...scenario, active: { ...active, training: { ...active.training, ...before } } },
    0,
    true,
  );
  for (const { name, output } of [active, ...passives]) {
    const folder = join(output.directory, earlierJob);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "share.json"), files.get(`${name}/share.json`) ?? "");
  }
  const { trees } = await readActiveShare(join(active.output.directory, earlierJob, "share.json"));
  return { ...scenario, active: { ...active, warm_start: { model: earlierJob } }, startTrees: trees.length };
}
