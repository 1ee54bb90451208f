/**
 * The cost of a job with the curve scheme, as a formula of rows, features, bins and depth (docs/performance.md). The
 * cost of its operations is measured on this machine in a fraction of a second. Seconds are CPU seconds.
 */
import type { Curve, CurveKernel, HeldPoints } from "../../crypto/curve/kernel.ts";
import { pointBytes, wideScalarBytes } from "../../crypto/curve/kernel.ts";
import { osRandom } from "../../base/random.ts";
import type { BlockCosts, CostModel, JobShape, Prediction } from "../cost-model.ts";
import { layoutReach } from "./range.ts";

/** CPU seconds per operation. */
interface OperationCosts {
  /** One value of a row, or its base. */
  readonly encrypt: number;
  /** Decoding one point. */
  readonly load: number;
  /** One point of a row added to a bin. */
  readonly add: number;
  /** One candidate with two values: masked and encoded. */
  readonly answer: number;
  /** One value of a candidate, without its logarithm. */
  readonly open: number;
  /** The same, with a logarithm of `reachMeasured`. */
  readonly find: number;
}

/** Rows in the smaller children of a level, as a fraction of all: splits are rarely even. */
const smallerChildrenFraction = 0.3;
/** Joint bins save about this factor at the root, and less at deeper levels. */
const jointFactor = { root: 0.62, below: 0.75 };
/** JavaScript, TLS and copying, per row and tree and per passive party. */
const handlingSeconds = 1e-6;
/** Bytes of a decoded point of a row. */
const heldPointBytes = 128;
const binBytes = 2;
const placeBytes = 4;
/** A logarithm takes as many steps as the range has strides; a short one is dominated by the table's lookup. */
const reachMeasured = 2 ** 24;
const values = 2;

/** Decoded points of a row's values and of its base. */
export function curveHeldBytes({ slots }: Pick<JobShape["layout"], "slots">, rows: number): number {
  return rows * (1 + slots.length) * heldPointBytes;
}

export async function curveCosts(kernel: CurveKernel): Promise<CostModel> {
  const costs = await calibrate(kernel.curve(1));
  return { predict: (job) => predict(job, costs) };
}

function predict(job: JobShape, costs: OperationCosts): Prediction {
  const { rows, trees, layout } = job;
  // The root and one child of each pair.
  const nodes = 2 ** (job.depth - 1);
  const width = layout.slots.length;
  const below = (job.depth - 1) * smallerChildrenFraction;
  const logarithm = Math.max(1, layoutReach(layout) / reachMeasured) * Math.max(0, costs.find - costs.open);
  const answerBytes = (1 + width) * pointBytes;
  const perPassive = job.passives.map(({ candidates, rootAdditions, features, bins }) => {
    // The sums of bases at the root are the same in every tree.
    const additions =
      rootAdditions * (jointFactor.root * width + below * jointFactor.below * (1 + width)) + rows * width;
    const ofBlocks = additions * costs.add + rows * width * costs.load;
    const answerBytesOnce = bins * answerBytes;
    const blocks: BlockCosts = {
      cpuSeconds: trees * ofBlocks,
      bytesPerRow: (1 + width) * heldPointBytes + binBytes * features,
      toldBytesPerRow: trees * ((1 + width) * pointBytes + placeBytes * below),
      answerBytes: trees * nodes * answerBytesOnce,
      answerBytesOnce,
    };
    const cpu = ofBlocks + (nodes * candidates * costs.answer * width) / values + rows * handlingSeconds;
    return { cpu, blocks };
  });
  const candidates = job.passives.reduce((sum, passive) => sum + passive.candidates, 0);
  const active =
    rows * width * costs.encrypt +
    nodes * candidates * width * (costs.open + logarithm) +
    rows * handlingSeconds * (1 + job.passives.length);
  const membershipBytes = ((job.depth - 1) * rows) / 8;
  return {
    activeCpuSeconds: active * trees + rows * costs.encrypt,
    passiveCpuSeconds: perPassive.map(({ cpu }) => cpu * trees + rows * costs.load),
    bytes: {
      activeToPassive:
        job.passives.length * (trees * (rows * width * pointBytes + membershipBytes) + rows * pointBytes),
      passiveToActive: trees * (nodes * candidates * (answerBytes + 4) + membershipBytes),
    },
    blocks: perPassive.map(({ blocks }) => blocks),
    // Scalars and bases at the active party, decoded points and bins at the passive one.
    memoryBytes: {
      active: rows * 2 * pointBytes,
      passives: job.passives.map(({ features }) => curveHeldBytes(layout, rows) + rows * binBytes * features),
    },
  };
}

/** Enough for the native kernels; the portable one is measured with fewer. */
const sampleCount = 2048;
const sampleCountSlow = 32;
const slowSeconds = 2e-5;

async function calibrate(curve: Curve): Promise<OperationCosts> {
  const few = await measure(curve, sampleCountSlow);
  return few.encrypt > slowSeconds ? few : measure(curve, sampleCount);
}

async function measure(curve: Curve, count: number): Promise<OperationCosts> {
  const places = Uint32Array.from({ length: count }, (_, i) => i);
  const rows = await curve.scalars(randomScalars(count));
  const secrets = await curve.scalars(randomScalars(values));
  const plaintexts = Int32Array.from({ length: count * values }, (_, i) => i % 1000);
  let points = new Uint8Array(0);
  const encrypt = await cpuOf(async () => {
    points = Uint8Array.from(await curve.encrypt({ rows, places, secrets, plaintexts }));
  });
  const held: HeldPoints = curve.points(count, values);
  const bases = curve.points(count, 1);
  await curve.load(await curve.multiples(rows, places), bases, places);
  const load = await cpuOf(() => curve.load(points, held, places));
  const binCount = 16;
  const bins = Array.from({ length: 4 }, (_, f) => Uint16Array.from(places, (i) => (i * (2 * f + 3)) % binCount));
  const binCounts = new Uint32Array(bins.length).fill(binCount);
  const skippedBins = new Int32Array(bins.length).fill(-1);
  const request = { rows: places, bins, binCounts, skippedBins, jointBins: false };
  const histogram = await cpuOf(() => curve.histogram({ ...request, sources: [held] }));
  const [sumsOfBases, sums] = await curve.histogram({ ...request, sources: [bases, held] });
  const cells = binCount * bins.length;
  const keys = await curve.keys(
    await curve.multiples(
      secrets,
      Uint32Array.from({ length: values }, (_, i) => i),
    ),
  );
  let answered = new Uint8Array(0);
  const answer = await cpuOf(async () => {
    answered = Uint8Array.from(
      await curve.answer({
        bases: sumsOfBases,
        values: sums,
        chainOffsets: Uint32Array.from({ length: cells + 1 }, (_, i) => i),
        sources: Uint32Array.from({ length: cells }, (_, i) => i),
        targets: Int32Array.from({ length: cells }, (_, i) => i),
        suppressed: new Uint8Array(cells),
        noise: null,
        keys,
        masks: randomScalars(cells),
      }),
    );
  });
  const logarithms = await curve.logarithms(reachMeasured);
  const opened = (bound: number): Promise<unknown> =>
    curve.open({
      secrets,
      points: answered,
      centres: new Float64Array(cells * values),
      bounds: new Float64Array(cells * values).fill(bound),
      logarithms,
    });
  return {
    encrypt: encrypt / (count * values),
    load: load / (count * values),
    add: histogram / (count * bins.length * values),
    answer: answer / cells,
    open: (await cpuOf(() => opened(1))) / (cells * values),
    find: (await cpuOf(() => opened(reachMeasured))) / (cells * values),
  };
}

function randomScalars(count: number): Uint8Array {
  return osRandom.fill(new Uint8Array(count * wideScalarBytes));
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
