/**
 * What a job costs, as a formula in rows, features, bins, depth and key bits (docs/performance.md), with the six
 * operations measured on this machine in about a second. Seconds are CPU seconds; times on the wall follow from cores.
 */
import {
  generateKey,
  type Kernel,
  plaintextsFromBigints,
  type PrivateKey,
  ResidentVector,
} from "../../crypto/paillier/index.ts";

/** CPU seconds of one operation each. */
export interface OperationCosts {
  /** One value by the key owner. */
  readonly encrypt: number;
  /** One value with a fresh r^n modulo n^2. */
  readonly textbook: number;
  /** One packed ciphertext. */
  readonly decrypt: number;
  /** One product modulo n^2, as in a histogram. */
  readonly add: number;
  /** One doubling of a plaintext under encryption, as in packing. */
  readonly double: number;
  /** One fresh r^n. */
  readonly obfuscate: number;
  /** The owner's tables, once per job. */
  readonly tables: number;
}

/** What the formula needs to know of one passive party. */
export interface PassiveShape {
  readonly candidates: number;
  /** Over all features: instances outside the feature's most frequent bin (or all, without skipping). */
  readonly rootAdditions: number;
}

export interface JobShape {
  readonly rows: number;
  readonly trees: number;
  readonly depth: number;
  readonly keyBits: number;
  readonly ciphertextsPerInstance: number;
  readonly plaintextBits: number;
  readonly sumsPerCiphertext: number;
  /** Which shortcuts are taken; packing shows in sumsPerCiphertext, skipped bins in rootAdditions. */
  readonly subtraction: boolean;
  readonly jointBins: boolean;
  readonly textbookEncryption: boolean;
  readonly passives: readonly PassiveShape[];
}

export interface Prediction {
  readonly activeCpuSeconds: number;
  readonly passiveCpuSeconds: readonly number[];
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
}

/** Rows in the smaller children of a level, as a share of all: splits are rarely even. */
const smallerChildrenShare = 0.3;
/** Joint bins save about this factor at the root and less further down. */
const jointFactor = { root: 0.62, below: 0.75 };
/** JavaScript, TLS and copying, per row and tree and per passive party. */
const handlingSeconds = 3e-6;

export function predict(job: JobShape, costs: OperationCosts): Prediction {
  const nodes = job.subtraction ? 2 ** (job.depth - 1) : 2 ** job.depth - 1; // the root and one child of each pair, or everybody
  const shareBelow = job.subtraction ? smallerChildrenShare : 1;
  const factor = job.jointBins ? jointFactor : { root: 1, below: 1 };
  const width = job.ciphertextsPerInstance;
  const ciphertextBytes = (2 * job.keyBits) / 8;
  const perPassive = job.passives.map(({ candidates, rootAdditions }) => {
    const returned = Math.ceil((candidates * width) / job.sumsPerCiphertext);
    const below = (job.depth - 1) * shareBelow;
    const additions = rootAdditions * (factor.root + below * factor.below) + job.rows + nodes * candidates;
    const cpu =
      additions * width * costs.add +
      nodes * candidates * width * job.plaintextBits * (job.sumsPerCiphertext > 1 ? costs.double : 0) +
      nodes * returned * costs.obfuscate +
      job.rows * handlingSeconds;
    return { cpu, returned };
  });
  const returnedPerTree = perPassive.reduce((sum, { returned }) => sum + returned * nodes, 0);
  const encrypt = job.textbookEncryption ? costs.textbook : costs.encrypt;
  const active =
    job.rows * width * encrypt +
    returnedPerTree * costs.decrypt +
    job.rows * handlingSeconds * (1 + job.passives.length);
  const membershipBytes = ((job.depth - 1) * job.rows) / 8;
  const candidateBytes = perPassive.reduce(
    (sum, { returned }, i) => sum + nodes * (returned * ciphertextBytes + 4 * job.passives[i].candidates),
    0,
  );
  return {
    activeCpuSeconds: active * job.trees + (job.textbookEncryption ? 0 : costs.tables),
    passiveCpuSeconds: perPassive.map(({ cpu }) => cpu * job.trees),
    bytes: {
      activeToPassive: job.trees * job.passives.length * (job.rows * width * ciphertextBytes + membershipBytes),
      passiveToActive: job.trees * (candidateBytes + membershipBytes),
    },
  };
}

/**
 * Values per measurement: about what one chunk of a job holds, so that what a call costs besides its values does not
 * count.
 */
const sampleCount = 1024;
/** The owner's tables grow when they have been used much: a job's encryptions cost this much of the first ones. */
const wideTables = 0.9;
/** Building the wide tables, in times of building the first ones. */
const wideTablesCost = 3.2;

/** Measures the six operations with one thread: about a second at 2048 bits. */
export async function calibrate(kernel: Kernel, keyBits: number): Promise<OperationCosts> {
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
  const stride = Math.min(80, keyBits - 2);
  const packed = { source: slice(resident, 128), strideBits: stride, perCiphertext: 2 };
  return {
    encrypt: encrypt * wideTables,
    textbook: (await cpuOf(() => owner.encryptTextbook(plaintexts(key, 16)))) / 16,
    tables: Math.max(0, user / 1e6 - encrypt * sampleCount) * (1 + wideTablesCost),
    decrypt: (await cpuOf(() => owner.decrypt(few))) / 16,
    add: (await cpuOf(histogram)) / (features * (sampleCount - binCount)),
    double: (await cpuOf(() => evaluator.pack(packed))) / (64 * stride),
    obfuscate: (await cpuOf(() => evaluator.obfuscators(8))) / 8,
  };
}

function slice(vector: ResidentVector, count: number): ResidentVector {
  return new ResidentVector(vector.bytes.subarray(0, count * vector.sizeBytes), vector.sizeBytes);
}

function plaintexts(key: PrivateKey, count: number) {
  return plaintextsFromBigints(
    key.publicKey,
    Array.from({ length: count }, (_, i) => BigInt(i)),
  );
}

/** The smaller of two runs. */
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
