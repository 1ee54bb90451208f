/**
 * `tandem refresh`: new leaves for a trained model, from instances labelled since. Passive parties send the outcomes of
 * their splits, as in scoring; the rest is computed by the active party. Splits stay, and so does the model's id: only
 * the active party's share has leaves.
 */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { diskStorage } from "../base/files/storage.ts";
import { jobSyntax } from "../base/job-name.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { selectRows } from "../data/dataset.ts";
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import { objectiveFor } from "../gbdt/objective/objectives.ts";
import { metricsFor } from "../gbdt/boost/boosting-monitor.ts";
import { refreshTrees } from "../gbdt/boost/refresh.ts";
import { absenceWords } from "../gbdt/metric/one-class.ts";
import { allIterations } from "../gbdt/tree/iterations.ts";
import { addLeafWeights } from "../gbdt/boost/train.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { evaluate } from "../party/evaluate.ts";
import { findActiveShare } from "../party/model/find-share.ts";
import { type FileTable, readPartyTable } from "../party/tables/party-data.ts";
import { rowsOfTable } from "../party/tables/table-rows.ts";
import type { LabelSpec } from "../party/tables/party-labels.ts";
import type { Metrics } from "../record/events/training-fields.ts";
import { type ActiveShare, writeActiveShare } from "../store/share-files.ts";
import { askAll, askedRows, countByParty, inputData, type UnknownRule, unknownRefusal } from "./run-predict.ts";
import { Scorer } from "./scorer.ts";
import type { Wanted } from "./wanted.ts";

export interface RefreshOptions {
  /** A job's name, or the folder of one. */
  readonly model: string;
  readonly input: string;
  /** The refreshed model's name among jobs. */
  readonly job: string;
  readonly unknown: UnknownRule;
  /** False: statistics only, leaves stay (XGBoost's refresh_leaf=0). */
  readonly refreshLeaf: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

export interface RefreshResult {
  readonly job: string;
  readonly from: string;
  readonly model: string;
  readonly rows: number;
  readonly used: number;
  readonly unknown: Readonly<Record<string, number>>;
  /** On these instances: with the old leaves, and with the new ones, which were trained on them. */
  readonly metrics: { readonly before: Metrics; readonly after: Metrics };
  /** Why metrics are missing, if these instances have one class; null: all exist. */
  readonly absence: string | null;
  readonly path: string;
}

const firstTimeoutMs = 10_000;
const leavesWanted: Wanted = { kind: "leaf", iterations: allIterations };

/** @throws TandemError; nothing is written then */
export async function runRefresh(
  config: ActiveConfig,
  options: RefreshOptions,
  storage: Storage = diskStorage,
): Promise<RefreshResult> {
  const share = await findActiveShare(options.model, config);
  const path = await newSharePath(config, options.job, storage);
  if (share.maskedScoring === true)
    throw new TandemError(
      "USAGE",
      `the model of job ${share.job} was trained with masked_scoring: parties send scores and no leaves. ` +
        "Its leaves cannot be refreshed",
    );
  if (share.treeWeights !== undefined)
    throw new TandemError(
      "USAGE",
      `the model of job ${share.job} was trained with booster dart: the trees dropped in each round are not ` +
        "stored. Its leaves cannot be refreshed",
    );
  const training = refreshParameters(config.job.training, share);
  if (objectiveFor(share.objective).leafQuantiles !== undefined)
    throw new TandemError(
      "USAGE",
      `leaves of ${share.objective} are quantiles of residuals, which cannot be refreshed`,
    );
  const shown = metricsFor(training); // refuses what does not fit
  const scorer = await Scorer.connect(config, share);
  try {
    const rows = await labelledRows(config.data, options.input, scorer, training);
    const all = Uint32Array.from({ length: rows.table.ids.length }, (_, row) => row);
    // Errors of the file come before any party is asked about its ids.
    void taskOf(options.input, rows, all, training);
    for (const { trouble } of await scorer.ready(firstTimeoutMs)) if (trouble !== null) throw trouble;
    const leaves = share.trees.map(() => new Uint32Array(rows.table.ids.length));
    const unknown = await askAll(askedRows(scorer, rows), options, async (batch, first, asked) => {
      const { predictions: found, unknown: ofBatch } = await scorer.score(batch, { ...asked, wanted: leavesWanted });
      leaves.forEach((ofTree, tree) => {
        for (let row = 0; row < batch.ids.length; row++) ofTree[first + row] = found[row * leaves.length + tree];
      });
      return ofBatch;
    });
    if (options.unknown === "refuse" && unknown.size > 0) throw unknownRefusal(options.input, rows, unknown);
    const used = all.filter((row) => options.unknown === "missing" || !unknown.has(row));
    if (used.length === 0)
      throw new TandemError("ID_UNKNOWN", `${options.input}: none of its ids is known to all passive parties`);
    const task = taskOf(options.input, rows, used, training);
    const leavesOf = (tree: number): Uint32Array => used.map((row) => leaves[tree][row]);
    const { trees, margins } = refreshTrees(share, task, training, leavesOf, options.refreshLeaf);
    const measured = (of: Float64Array): Metrics => evaluate(training, of, task.rows);
    const metrics = { before: measured(marginsOf(share, task, leavesOf)), after: measured(margins) };
    await storage.makeFolder(join(config.output.directory, options.job));
    await writeActiveShare(path, { ...share, job: options.job, trees }, storage);
    return {
      job: options.job,
      from: share.job,
      model: share.model,
      rows: rows.table.ids.length,
      used: used.length,
      unknown: countByParty(unknown),
      metrics,
      absence: absenceWords(shown, task.rows.labels, "new", training.num_class),
      path,
    };
  } finally {
    scorer.close();
  }
}

/**
 * Labels and own features of the new instances, in the model's codes.
 * @param baseMargin where it is read: a prediction begins there, and leaves do not depend on it
 */
export function labelledRows(
  data: ActiveConfig["data"],
  input: string,
  scorer: Scorer,
  training: TrainingParameters,
  baseMargin: "labels" | "features" = "labels",
): Promise<FileTable> {
  const { share, categoryNames } = scorer;
  const label: LabelSpec = {
    label: data.label,
    positive: data.positive,
    training,
    trained: { classes: share.classes ?? null },
    columns: { ...data, base_margin: baseMargin === "labels" ? share.baseMarginColumn : undefined },
  };
  const features = baseMargin === "labels" ? scorer.ownFeatures : scorer.features;
  const asked = inputData(data, { features, categoryNames });
  return readPartyTable({ path: input }, asked, label, { text: "as trained" });
}

/** The instances that leaves are trained on. @throws TandemError naming the file, and its lines */
function taskOf(
  input: string,
  { table, fileLines, lineNoun }: FileTable,
  instances: Uint32Array,
  training: TrainingParameters,
): BoostingTask {
  const rows = rowsOfTable(selectRows({ ...table, features: [] }, instances));
  try {
    return new BoostingTask(training, rows, false);
  } catch (error) {
    if (!(error instanceof TandemError) || error.code === "USAGE") throw error;
    const inLines = error.message.replaceAll(
      /\binstance (\d+)/g,
      (_, row) => `${lineNoun} ${fileLines[instances[Number(row)]]}`,
    );
    throw new TandemError(error.code, `${input}: ${inLines}`, { cause: error });
  }
}

/** The config's, except for what the model determines. */
export function refreshParameters(training: TrainingParameters, share: ActiveShare): TrainingParameters {
  const { objective, outputCount = 1, parallelTrees = 1, trees } = share;
  const isVector = trees.flat().some((node) => node.kind === "leaf" && node.weights !== undefined);
  return {
    ...training,
    objective,
    num_class: outputCount === 1 ? 0 : outputCount,
    multi_strategy: isVector ? "multi_output_tree" : "one_output_per_tree",
    num_parallel_tree: parallelTrees,
  };
}

/** With the old leaves. */
function marginsOf(share: ActiveShare, task: BoostingTask, leavesOf: (tree: number) => Uint32Array): Float64Array {
  const margins = task.startMargins(share.baseMargin);
  share.trees.forEach((tree, index) => addLeafWeights(margins, task.outputCount, index, tree, leavesOf(index)));
  return margins;
}

async function newSharePath({ output }: ActiveConfig, job: string, storage: Storage): Promise<string> {
  if (!jobSyntax.test(job))
    throw new TandemError("USAGE", "--job takes up to 64 letters, digits, dots, dashes and underscores");
  const path = join(output.directory, job, "share.json");
  if ((await storage.read(path)) !== null)
    throw new TandemError("USAGE", `${path} has a model already; name the refreshed one differently with --job`);
  return path;
}
