/** The active party's process: read data and labels, make a key, train with the passive parties, predict, keep the share. */
import { TandemError } from "../base/error.ts";
import { overflowProof, type GradientLayout } from "../codec/layout.ts";
import { sumPacking } from "../codec/packing.ts";
import { defaultThreads, generateKey, selectKernel } from "../crypto/index.ts";
import { writeCsv } from "../data/write-csv.ts";
import type { PartyTable } from "../data/dataset.ts";
import { ActiveRole } from "../protocol/active-role.ts";
import { idsDigest } from "../protocol/ids.ts";
import { PaillierActive } from "../protocol/paillier-active.ts";
import { writeActiveShare } from "../store/share-files.ts";
import { connectTls } from "../transport/tls.ts";
import { type ActiveConfig, configParameters } from "./config.ts";
import { evaluate, predictionsFrom } from "./evaluate.ts";
import type { Emit, LayoutSummary } from "./events.ts";
import { binTable, readPartyTable } from "./party-data.ts";
import { ProcessMeter } from "./process-meter.ts";
import { readIdentity } from "./run-passive.ts";

export async function runActive(config: ActiveConfig, emit: Emit): Promise<void> {
  const { name } = config;
  const { training, codec, speed } = configParameters(config);
  const now = (): number => performance.now();
  const train = await readPartyTable(config.data.train, config.data, config.data);
  const labels = labelsOf(train);
  const predict = config.data.predict === undefined ? null : await readPartyTable(config.data.predict, config.data, config.data);

  const keygenStarted = now();
  const kernel = selectKernel();
  const key = await generateKey({ bits: config.keyBits, insecure: config.insecureKey });
  const keygenMs = now() - keygenStarted;
  emit({ type: "key", party: name, process: process.pid, keyBits: config.keyBits, kernel: kernel.name });

  const scheme = new PaillierActive(kernel, key, config.threads ?? defaultThreads(), speed);
  const identity = await readIdentity(config.tls);
  const peers = config.passives.map((passive) => connectTls(passive.name, identity, passive.fingerprint, passive));
  const meter = new ProcessMeter();
  let trainMetrics = {};
  const role = new ActiveRole({
    name,
    job: config.job,
    training,
    codec,
    subtraction: speed.subtraction,
    features: binTable(train, training.max_bin),
    labels,
    idsDigest: idsDigest(train.ids),
    scheme,
    peers,
    observer: {
      joined: (peer, featureCount) => emit({ type: "joined", party: name, peer, featureCount }),
      layoutProven: (layout) => emit({ type: "layout", party: name, layout: layoutSummary(layout, codec.layout, config.keyBits, speed.packing) }),
      treeBegan: () => meter.start(),
      treeFinished: (tree, margins) => {
        meter.stop();
        trainMetrics = evaluate(training.objective, margins, labels);
        emit({ type: "tree", party: name, tree, treeCount: training.num_round, metrics: trainMetrics });
      },
    },
    now,
  });
  try {
    await role.join();
    const trainingStarted = now();
    const model = await role.train();
    const trainingMs = now() - trainingStarted;
    await writeActiveShare(config.output.share, model);
    let testMetrics = null;
    if (predict !== null) {
      const margins = await role.predict(model, predict);
      testMetrics = evaluate(training.objective, margins, labelsOf(predict));
      if (config.output.predictions !== undefined) await writePredictions(config.output.predictions, predict, predictionsFrom(training.objective, margins));
    }
    await role.finish();
    emit({
      type: "active-result",
      party: name,
      result: {
        trees: model.trees.length,
        metrics: { train: trainMetrics, test: testMetrics },
        phasesMs: { ...role.phases, keygen: keygenMs, training: trainingMs },
        ...meter.use,
        counts: scheme.counts,
        bytes: role.traffic,
      },
    });
  } catch (error) {
    await role.finish(error instanceof TandemError ? error.message : "an internal error of the active party");
    throw error;
  } finally {
    for (const peer of peers) peer.close();
  }
}

function labelsOf(table: PartyTable): Float64Array {
  if (table.labels === null) throw new TandemError("LABEL_INVALID", "the active party needs labels");
  return table.labels;
}

async function writePredictions(path: string, table: PartyTable, predictions: Float64Array): Promise<void> {
  const columns = [table.ids, Array.from(labelsOf(table), String), Array.from(predictions, String)];
  await writeCsv(path, ["id", "label", "prediction"], columns, { mode: 0o600 });
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
