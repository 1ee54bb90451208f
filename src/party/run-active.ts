/** The active party's process: read data and labels, align, make a key, train with the passive parties, predict, keep the share. */
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { overflowProof, type GradientLayout } from "../codec/layout.ts";
import { sumPacking } from "../codec/packing.ts";
import { defaultThreads, generateKey, selectKernel } from "../crypto/index.ts";
import { writeCsv } from "../data/write-csv.ts";
import type { PartyTable } from "../data/dataset.ts";
import { otherRows } from "../gbdt/boosting-task.ts";
import { ActiveRole } from "../protocol/active-role.ts";
import { idsDigest } from "../protocol/ids.ts";
import { agreedParameters, treesPerRound } from "../protocol/job-parameters.ts";
import { modelId } from "../protocol/model-id.ts";
import { PaillierActive } from "../protocol/paillier-active.ts";
import { writeActiveShare } from "../store/share-files.ts";
import { connectTls, type TlsPeer } from "../transport/tls.ts";
import { type ActiveTables, type AlignedRows, alignTables, type JobTables, jobTables, readActiveTables } from "./active-tables.ts";
import type { ActiveConfig } from "./config.ts";
import { evaluate, predictionsFrom } from "./evaluate.ts";
import type { Emit, LayoutSummary, Metrics } from "./events.ts";
import { binTable } from "./party-data.ts";
import { ProcessMeter } from "./process-meter.ts";
import { samplingSecretOf } from "./sampling-secret.ts";
import { readIdentity } from "./run-passive.ts";

export async function runActive(config: ActiveConfig, emit: Emit): Promise<void> {
  const tables = await readActiveTables(config);
  const folder = await jobFolder(config);
  const { scheme, keygenMs } = await makeKey(config, emit);
  const peers = await connectPeers(config);
  try {
    const aligned = config.align ? await alignAndWrite(tables, peers, config, join(folder, "aligned.csv"), emit) : null;
    await train({ config, folder, tables: jobTables(tables, aligned, config), scheme, keygenMs, peers, emit });
  } finally {
    for (const peer of peers) peer.close();
  }
}

/** Alignment alone; the rows that are common to all parties are written to `out`. */
export async function runAlignment(config: ActiveConfig, out: string | undefined, emit: Emit): Promise<{ readonly path: string; readonly aligned: AlignedRows }> {
  const tables = await readActiveTables(config);
  const path = out ?? join(await jobFolder(config), "aligned.csv");
  const peers = await connectPeers(config);
  try {
    return { path, aligned: await alignAndWrite(tables, peers, config, path, emit) };
  } finally {
    for (const peer of peers) peer.close();
  }
}

interface ActiveRun {
  readonly config: ActiveConfig;
  readonly folder: string;
  readonly tables: JobTables;
  readonly scheme: PaillierActive;
  readonly keygenMs: number;
  readonly peers: readonly TlsPeer[];
  readonly emit: Emit;
}

async function train({ config, folder, tables, scheme, keygenMs, peers, emit }: ActiveRun): Promise<void> {
  const { name, training, codec, speed } = config;
  const now = (): number => performance.now();
  const labels = labelsOf(tables.train);
  if (labels.every((label) => label === labels[0])) throw new TandemError("LABEL_INVALID", `the label is the same in all ${labels.length} training rows; there is nothing to learn`);
  const weights = tables.train.weights ?? null;
  const digest = idsDigest(tables.train.ids);
  const meter = new ProcessMeter();
  let trainMetrics: Metrics = {};
  let validationMetrics: Metrics | null = null;
  const role = new ActiveRole({
    name,
    job: config.job,
    training,
    codec,
    subtraction: speed.subtraction,
    features: binTable(tables.train, training.max_bin, tables.validationRows && otherRows(tables.validationRows, labels.length)),
    validationRows: tables.validationRows,
    labels,
    weights,
    samplingSecret: samplingSecretOf(config),
    idsDigest: digest,
    rows: tables.rows,
    scheme,
    peers,
    observer: {
      joined: (peer, featureCount) => emit({ type: "joined", party: name, peer, featureCount }),
      layoutProven: (layout) => emit({ type: "layout", party: name, layout: layoutSummary(layout, codec.layout, config.keyBits, speed.packing) }),
      treeBegan: () => meter.start(),
      treeFinished: async (tree, _margins, evaluateRound) => {
        meter.stop();
        const { train, validation } = await evaluateRound();
        trainMetrics = train;
        validationMetrics = validation ?? validationMetrics;
        emit({ type: "tree", party: name, tree, treeCount: training.num_round * treesPerRound(training), metrics: train, ...(validation === null ? {} : { validation }) });
      },
    },
    now,
  });
  try {
    await role.join();
    const trainingStarted = now();
    const model = await role.train();
    const trainingMs = now() - trainingStarted;
    const id = modelId(agreedParameters(config.job, training, codec, scheme), labels.length, digest);
    await writeActiveShare(join(folder, "share.json"), { name, job: config.job, model: id, ...model });
    let testMetrics = null;
    if (tables.test !== null) {
      const margins = await role.predict(model, tables.test);
      testMetrics = evaluate(training, margins, labelsOf(tables.test), tables.test.weights);
      await writePredictions(config.output.predictions ?? join(folder, "predictions.csv"), tables.test, predictionsFrom(training.objective, margins, model.outputCount));
    }
    await role.finish();
    emit({
      type: "active-result",
      party: name,
      result: {
        trees: model.trees.length,
        metrics: { train: trainMetrics, ...(validationMetrics === null ? {} : { validation: validationMetrics }), test: testMetrics },
        phasesMs: { ...role.phases, keygen: keygenMs, training: trainingMs },
        ...meter.use,
        counts: scheme.counts,
        bytes: role.traffic,
      },
    });
  } catch (error) {
    await role.finish(error instanceof TandemError ? error.message : "an internal error of the active party");
    throw error;
  }
}

async function makeKey(config: ActiveConfig, emit: Emit): Promise<{ scheme: PaillierActive; keygenMs: number }> {
  const started = performance.now();
  const kernel = selectKernel();
  const key = await generateKey({ bits: config.keyBits, insecure: config.insecureKey });
  const keygenMs = performance.now() - started;
  emit({ type: "key", party: config.name, process: process.pid, keyBits: config.keyBits, kernel: kernel.name });
  const scheme = new PaillierActive(kernel, key, config.threads ?? defaultThreads(), config.speed);
  return { scheme, keygenMs };
}

async function connectPeers(config: ActiveConfig): Promise<TlsPeer[]> {
  const identity = await readIdentity(config.tls);
  return config.passives.map((passive) => connectTls(passive.name, identity, passive.fingerprint, passive));
}

async function alignAndWrite(tables: ActiveTables, peers: readonly TlsPeer[], config: ActiveConfig, path: string, emit: Emit): Promise<AlignedRows> {
  const aligned = await alignTables(tables, peers.map((peer) => peer.alignment(config.job)), config, emit);
  const { train, test } = tables;
  const trainCount = train.table.ids.length;
  const isTrain = (row: number): boolean => row < trainCount;
  const ids = Array.from(aligned.rows, (row) => (isTrain(row) ? train.table.ids[row] : (test?.table.ids[row - trainCount] ?? "")));
  const fileRows = Array.from(aligned.rows, (row) => String(isTrain(row) ? train.fileRows[row] : test?.fileRows[row - trainCount]));
  const files = test === null ? [] : [Array.from(aligned.rows, (row) => (isTrain(row) ? "path" : "test_path"))];
  await writeCsv(path, ["id", ...(test === null ? [] : ["file"]), "row"], [ids, ...files, fileRows], { mode: 0o600 });
  return aligned;
}

/** Where a job's results go. @throws TandemError if there are results of that name already */
async function jobFolder({ output, job }: ActiveConfig): Promise<string> {
  const folder = join(output.directory, job);
  const exists = await access(join(folder, "share.json")).then(() => true, () => false);
  if (exists) throw new TandemError("USAGE", `${folder} holds a finished job of this name; give the new one another name with 'job:'`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be made`, { cause });
  }
  return folder;
}

function labelsOf(table: PartyTable): Float64Array {
  if (table.labels === null) throw new TandemError("LABEL_INVALID", "the active party needs labels");
  return table.labels;
}

async function writePredictions(path: string, table: PartyTable, predictions: Float64Array): Promise<void> {
  const outputCount = predictions.length / table.ids.length;
  const outputs = Array.from({ length: outputCount }, (_, k) => table.ids.map((_id, row) => String(predictions[row * outputCount + k])));
  const names = outputCount === 1 ? ["prediction"] : outputs.map((_, k) => `prediction_${k}`);
  await writeCsv(path, ["id", "label", ...names], [table.ids, Array.from(labelsOf(table), String), ...outputs], { mode: 0o600 });
}

function layoutSummary(layout: GradientLayout, kind: LayoutSummary["kind"], keyBits: number, packing: boolean): LayoutSummary {
  return {
    kind,
    codec: layout.codec,
    slots: layout.slots,
    plaintextsPerInstance: layout.plaintexts.length,
    plaintextBits: layout.plaintextBits,
    sumsPerCiphertext: sumPacking(layout.plaintextBits, keyBits, packing).perCiphertext,
    proof: overflowProof(layout),
  };
}
