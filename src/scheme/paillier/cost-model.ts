/**
 * The cost of a job with Paillier, as a formula of rows, features, bins, depth and key bits (docs/performance.md). The
 * cost of its four operations is measured on this machine in about a second. Seconds are CPU seconds; wall-clock times
 * follow from the number of cores.
 */
import { sumPacking } from "../../codec/packing.ts";
import { generateKey, type Kernel, plaintextsFromBigints, type PrivateKey } from "../../crypto/paillier/index.ts";
import type { BlockCosts, CostModel, JobShape, Prediction } from "../cost-model.ts";

/** CPU seconds per operation. */
interface OperationCosts {
  /** One value by the key owner. */
  readonly encrypt: number;
  /** One packed ciphertext. */
  readonly decrypt: number;
  /** One product modulo n^2, as in a histogram. */
  readonly add: number;
  /** One packed ciphertext with its fresh r^n, besides an addition for each candidate. */
  readonly pack: number;
  /** The owner's tables, once per job. */
  readonly tables: number;
}

/** Rows in the smaller children of a level, as a fraction of all: splits are rarely even. */
const smallerChildrenFraction = 0.3;
/** Joint bins save about this factor at the root, and less at deeper levels. */
const jointFactor = { root: 0.62, below: 0.75 };
/** JavaScript, TLS and copying, per row and tree and per passive party. */
const handlingSeconds = 3e-6;

/** Bytes of a row's bin of one feature. */
const binBytes = 2;
/** Bytes of a row's index in a block, when a block is sent the members of a node. */
const placeBytes = 4;

export async function paillierCosts(kernel: Kernel, keyBits: number): Promise<CostModel> {
  const costs = await calibrate(kernel, keyBits);
  return { predict: (job) => predict(job, keyBits, costs) };
}

function predict(job: JobShape, keyBits: number, costs: OperationCosts): Prediction {
  // The root and one child of each pair.
  const nodes = 2 ** (job.depth - 1);
  const { plaintextBits } = job.layout;
  const width = job.layout.plaintexts.length;
  const { perCiphertext } = sumPacking(plaintextBits, keyBits, true);
  const ciphertextBytes = (2 * keyBits) / 8;
  const below = (job.depth - 1) * smallerChildrenFraction;
  const perPassive = job.passives.map(({ candidates, rootAdditions, features, bins }) => {
    const returned = Math.ceil((candidates * width) / perCiphertext);
    const ofBlocks = (rootAdditions * (jointFactor.root + below * jointFactor.below) + job.rows) * width * costs.add;
    const answerBytesOnce = bins * width * ciphertextBytes;
    const blocks: BlockCosts = {
      cpuSeconds: job.trees * ofBlocks,
      bytesPerRow: width * ciphertextBytes + binBytes * features,
      toldBytesPerRow: job.trees * (width * ciphertextBytes + placeBytes * below),
      answerBytes: job.trees * nodes * answerBytesOnce,
      answerBytesOnce,
    };
    const cpu =
      ofBlocks +
      nodes * 2 * candidates * width * costs.add + // along chains of bins, and in packing
      nodes * returned * costs.pack +
      job.rows * handlingSeconds;
    return { cpu, returned, blocks };
  });
  const returnedPerTree = perPassive.reduce((sum, { returned }) => sum + returned * nodes, 0);
  const active =
    job.rows * width * costs.encrypt +
    returnedPerTree * costs.decrypt +
    job.rows * handlingSeconds * (1 + job.passives.length);
  const membershipBytes = ((job.depth - 1) * job.rows) / 8;
  const candidateBytes = perPassive.reduce(
    (sum, { returned }, i) => sum + nodes * (returned * ciphertextBytes + 4 * job.passives[i].candidates),
    0,
  );
  return {
    activeCpuSeconds: active * job.trees + costs.tables,
    passiveCpuSeconds: perPassive.map(({ cpu }) => cpu * job.trees),
    bytes: {
      activeToPassive: job.trees * job.passives.length * (job.rows * width * ciphertextBytes + membershipBytes),
      passiveToActive: job.trees * (candidateBytes + membershipBytes),
    },
    blocks: perPassive.map(({ blocks }) => blocks),
    // Obfuscators of the next tree at the active party, gradients and bins at the passive one.
    memoryBytes: {
      active: job.rows * width * ciphertextBytes,
      passives: job.passives.map(({ features }) => job.rows * (width * ciphertextBytes + binBytes * features)),
    },
  };
}

/**
 * Values per measurement: about as many as a chunk of a job, so that the fixed cost of a call is negligible.
 */
const sampleCount = 1024;
/** The owner's tables grow with use: a job's encryptions cost this fraction of the first ones. */
const wideTables = 0.8;
/** Cost of building the wide tables, relative to the first ones. */
const wideTablesCost = 5.8;

/** Measures the four operations with one thread: about a second at 2048 bits. */
async function calibrate(kernel: Kernel, keyBits: number): Promise<OperationCosts> {
  const key = await generateKey({ bits: keyBits, insecure: true });
  const owner = kernel.privateEvaluator(key, { threads: 1 });
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
  const started = process.cpuUsage();
  const ciphertexts = await owner.encrypt(plaintexts(key, sampleCount)); // builds the tables
  const { user } = process.cpuUsage(started);
  const encrypt = (await cpuOf(() => owner.encrypt(plaintexts(key, sampleCount)))) / sampleCount;
  const few = await owner.encrypt(plaintexts(key, 16));
  const resident = evaluator.allocate(sampleCount);
  await evaluator.load(ciphertexts, resident, 0);
  const features = 8;
  const binCount = 16;
  const bins = Array.from({ length: features }, (_, f) =>
    Uint16Array.from({ length: sampleCount }, (_cell, i) => (i * (2 * f + 3)) % binCount),
  );
  const histogram = (): Promise<unknown> =>
    evaluator.histogram({
      gradients: resident,
      ciphertextsPerInstance: 1,
      instances: Uint32Array.from({ length: sampleCount }, (_, i) => i),
      bins,
      binCounts: new Uint32Array(features).fill(binCount),
      skippedBins: new Int32Array(features).fill(-1),
      jointBins: false,
    });
  const packed = { source: evaluator.slice(resident, 0, 8), strideBits: 1, perCiphertext: 1 };
  return {
    encrypt: encrypt * wideTables,
    tables: Math.max(0, user / 1e6 - encrypt * sampleCount) * (1 + wideTablesCost),
    decrypt: (await cpuOf(() => owner.decrypt(few))) / 16,
    add: (await cpuOf(histogram)) / (features * (sampleCount - binCount)),
    pack: (await cpuOf(() => evaluator.pack(packed))) / 8,
  };
}

function plaintexts(key: PrivateKey, count: number) {
  return plaintextsFromBigints(
    key.publicKey,
    Array.from({ length: count }, (_, i) => BigInt(i)),
  );
}

/** The faster of two runs. */
async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < 2; i++) {
    const start = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1e6);
  }
  return best;
}
