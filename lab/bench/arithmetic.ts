/**
 * The arithmetic's figures: encryption, products, decryption, histograms, packing and threads, each against its
 * baseline.
 */
import { SeededRandom } from "../../src/base/random.ts";
import {
  generateKey,
  type Kernel,
  plaintextsFromBigints,
  type PrivateEvaluator,
  type PrivateKey,
  type PublicEvaluator,
} from "../../src/crypto/paillier/index.ts";
import { type HistogramRequest } from "../../src/crypto/paillier/kernel.ts";
import { loadNativeKernel } from "../../src/crypto/paillier/native-kernel.ts";
import type { ResidentVector } from "../../src/crypto/paillier/vectors.ts";
import { type Contender, interleave, type Timing } from "./measure.ts";
import { opensslPower, randomOdd } from "./baseline.ts";

/** A figure of the bench: a number with a name, a bar where there is one, and what it was made from. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number };
  readonly parts: Readonly<Record<string, Timing>>;
}

export interface ArithmeticBench {
  readonly kernel: Kernel;
  readonly repeats: number;
  readonly seed: number;
  /** A tenth of the instances. */
  readonly quick: boolean;
}

/** OpenSSL's power with a 2048-bit exponent makes 2048 squarings and about 410 products. */
const productsPerPower = 2458;
/** About what one chunk of gradients holds. */
const encryptionsPerCall = 1024;

export async function benchArithmetic(bench: ArithmeticBench, onFigure: (figure: Figure) => void): Promise<void> {
  const keys = new Map<number, PrivateKey>();
  for (const bits of [1024, 2048]) keys.set(bits, await generateKey({ bits, insecure: true }));
  for (const [bits, key] of keys) for (const figure of await encryption(bench, key, bits)) onFigure(figure);
  const key = keys.get(2048);
  if (key === undefined) return;
  onFigure(await multiplication(bench, key));
  for (const figure of await kernelsOfLanes(bench, key)) onFigure(figure);
  onFigure(await decryption(bench, key));
  onFigure(await packing(bench, key));
  onFigure(await rerandomisation(bench, key));
  onFigure(await jointBins(bench, key));
  onFigure(await threads(bench, key));
}

async function encryption({ kernel, repeats }: ArithmeticBench, key: PrivateKey, bits: number): Promise<Figure[]> {
  const { n, nSquared } = key.publicKey;
  const full = kernel.privateEvaluator(key, { threads: 1 });
  const short = kernel.privateEvaluator(key, { threads: 1, exponents: "short" });
  const plaintexts = plaintextsFromBigints(
    key.publicKey,
    Array.from({ length: encryptionsPerCall }, (_, i) => BigInt(i) << 40n),
  );
  const textbook = opensslPower(nSquared, n);
  const timings = await interleave(
    [
      repeated("textbook", 4, textbook),
      { name: "ours", units: encryptionsPerCall, run: () => full.encrypt(plaintexts) },
      { name: "short", units: encryptionsPerCall, run: () => short.encrypt(plaintexts) },
    ],
    repeats,
    "cpu",
  );
  const parts = (ours: string): Record<string, Timing> => ({
    textbook: timing(timings, "textbook"),
    ours: timing(timings, ours),
  });
  const bar = { atLeast: bits === 1024 ? 35 : 38 };
  return [
    { name: `encrypt.speedup.${bits}`, value: ratio(timings, "textbook", "ours"), bar, parts: parts("ours") },
    { name: `encrypt.djn.${bits}`, value: ratio(timings, "textbook", "short"), parts: parts("short") },
  ];
}

async function multiplication({ kernel, repeats, seed, quick }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
  const instances = quick ? 1000 : 8000;
  const request = await histogramRequest(kernel, key, seed, { instances, features: 4, bins: 32 });
  const power = opensslPower(key.publicKey.nSquared, randomOdd(2048));
  const products = instances * 4 - 4 * 32;
  const timings = await interleave(
    [
      repeated("power", 4, power),
      { name: "product", units: products, run: () => evaluator.histogram({ ...request, jointBins: false }) },
    ],
    repeats,
    "cpu",
  );
  const value = timing(timings, "product").min / (timing(timings, "power").min / productsPerPower);
  return { name: "multiply.ratio.4096", value, bar: { atMost: 0.75 }, parts: Object.fromEntries(timings) };
}

/** Eight lanes of AVX-512 against four of AVX2, where the processor has both. */
async function kernelsOfLanes({ repeats, seed, quick }: ArithmeticBench, key: PrivateKey): Promise<Figure[]> {
  const { kernels } = loadNativeKernel();
  const contenders: Contender[] = [];
  for (const name of ["ifma", "avx2"] as const) {
    const kernel = kernels.get(name);
    if (kernel === undefined) return [];
    const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
    const instances = quick ? 1000 : 8000;
    const request = await histogramRequest(kernel, key, seed, { instances, features: 4, bins: 32 });
    const run = (): Promise<unknown> => evaluator.histogram({ ...request, jointBins: false });
    contenders.push({ name, units: instances * 4 - 4 * 32, run });
  }
  const timings = await interleave(contenders, repeats, "cpu");
  const parts = Object.fromEntries(timings);
  return [{ name: "multiply.ifma", value: ratio(timings, "ifma", "avx2"), bar: { atMost: 0.4 }, parts }];
}

async function decryption({ kernel, repeats }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const evaluator = kernel.privateEvaluator(key, { threads: 1 });
  const ciphertexts = await evaluator.encrypt(
    plaintextsFromBigints(
      key.publicKey,
      Array.from({ length: 32 }, (_, i) => BigInt(i)),
    ),
  );
  const timings = await interleave(
    [repeated("power", 8, halfPower()), { name: "decrypt", units: 32, run: () => evaluator.decrypt(ciphertexts) }],
    repeats,
    "cpu",
  );
  const value = timing(timings, "decrypt").min / (2 * timing(timings, "power").min);
  return { name: "decrypt.ratio.2048", value, bar: { atMost: 0.7 }, parts: Object.fromEntries(timings) };
}

async function packing({ kernel, repeats }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const owner = kernel.privateEvaluator(key, { threads: 1 });
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
  const source = await residents(owner, evaluator, 80);
  const run = async (): Promise<unknown> =>
    owner.decrypt(await evaluator.unload(await evaluator.pack({ source, strideBits: 80, perCiphertext: 20 })));
  const timings = await interleave(
    [repeated("power", 8, halfPower()), { name: "packed", units: 4, run }],
    repeats,
    "cpu",
  );
  const value = (40 * timing(timings, "power").min) / timing(timings, "packed").min;
  return { name: "packing.speedup.2048", value, bar: { atLeast: 8 }, parts: Object.fromEntries(timings) };
}

/** What hiding the summed instances from the key owner costs, in textbook encryptions per returned ciphertext. */
async function rerandomisation({ kernel, repeats }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
  const packed = await residents(kernel.privateEvaluator(key, { threads: 1 }), evaluator, 8);
  const zeros = plaintextsFromBigints(key.publicKey, new Array<bigint>(8).fill(0n));
  const run = async (): Promise<unknown> => evaluator.add(packed, await evaluator.encrypt(zeros));
  const textbook = opensslPower(key.publicKey.nSquared, key.publicKey.n);
  const timings = await interleave(
    [repeated("textbook", 4, textbook), { name: "rerandomise", units: 8, run }],
    repeats,
    "cpu",
  );
  return {
    name: "rerandomise.ratio.2048",
    value: ratio(timings, "rerandomise", "textbook"),
    parts: Object.fromEntries(timings),
  };
}

async function jointBins({ kernel, repeats, seed, quick }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 1 });
  const request = await histogramRequest(kernel, key, seed, {
    instances: quick ? 2000 : 20_000,
    features: 20,
    bins: 32,
  });
  const contender = (name: string, joint: boolean): Contender => ({
    name,
    units: 1,
    run: () => evaluator.histogram({ ...request, jointBins: joint }),
  });
  const timings = await interleave([contender("direct", false), contender("joint", true)], Math.min(repeats, 3), "cpu");
  return {
    name: "histogram.jointSpeedup",
    value: ratio(timings, "direct", "joint"),
    bar: { atLeast: 1.6 },
    parts: Object.fromEntries(timings),
  };
}

/** The slower to scale of encryption and histogram, in wall time. */
async function threads({ kernel, repeats, seed, quick }: ArithmeticBench, key: PrivateKey): Promise<Figure> {
  const request = await histogramRequest(kernel, key, seed, { instances: quick ? 800 : 8000, features: 10, bins: 32 });
  const plaintexts = plaintextsFromBigints(
    key.publicKey,
    Array.from({ length: quick ? 150 : 1500 }, (_, i) => BigInt(i)),
  );
  const contenders = [1, 2].flatMap((count): Contender[] => {
    const owner = kernel.privateEvaluator(key, { threads: count });
    const evaluator = kernel.publicEvaluator(key.publicKey, { threads: count });
    return [
      { name: `encrypt ${count}`, units: 1, run: () => owner.encrypt(plaintexts) },
      { name: `histogram ${count}`, units: 1, run: () => evaluator.histogram(request) },
    ];
  });
  const timings = await interleave(contenders, repeats, "wall");
  const value = Math.min(ratio(timings, "encrypt 1", "encrypt 2"), ratio(timings, "histogram 1", "histogram 2"));
  return { name: "threads.speedup", value, bar: { atLeast: 1.8 }, parts: Object.fromEntries(timings) };
}

/** Uniform independent bins over ciphertexts that repeat: their values do not affect the time. */
async function histogramRequest(
  kernel: Kernel,
  key: PrivateKey,
  seed: number,
  shape: { instances: number; features: number; bins: number },
): Promise<HistogramRequest> {
  const random = new SeededRandom(`bench-${seed}`);
  const evaluator = kernel.publicEvaluator(key.publicKey, { threads: 2 });
  const some = await residents(kernel.privateEvaluator(key, { threads: 2 }), evaluator, 500);
  const copies = Array.from({ length: Math.ceil(shape.instances / some.count) }, () => some);
  return {
    gradients: evaluator.slice(evaluator.join(copies), 0, shape.instances),
    ciphertextsPerInstance: 1,
    instances: Uint32Array.from({ length: shape.instances }, (_, i) => i),
    bins: Array.from({ length: shape.features }, () =>
      Uint16Array.from({ length: shape.instances }, () => random.below(shape.bins)),
    ),
    binCounts: new Uint32Array(shape.features).fill(shape.bins),
    skippedBins: new Int32Array(shape.features).fill(-1),
  };
}

async function residents(owner: PrivateEvaluator, evaluator: PublicEvaluator, count: number): Promise<ResidentVector> {
  const ciphertexts = await owner.encrypt(
    plaintextsFromBigints(
      evaluator.key,
      Array.from({ length: count }, (_, i) => BigInt(i + 1)),
    ),
  );
  const target = evaluator.allocate(count);
  await evaluator.load(ciphertexts, target, 0);
  return target;
}

/** One of the two powers of a CRT decryption at 2048 bits. */
function halfPower(): () => Uint8Array {
  return opensslPower(randomOdd(2048), randomOdd(1024));
}

function repeated(name: string, units: number, once: () => Uint8Array): Contender {
  return {
    name,
    units,
    run: () => {
      let last: Uint8Array | null = null;
      for (let i = 0; i < units; i++) last = once();
      return last;
    },
  };
}

function timing(timings: ReadonlyMap<string, Timing>, name: string): Timing {
  return timings.get(name) ?? { min: Number.NaN, median: Number.NaN };
}

function ratio(timings: ReadonlyMap<string, Timing>, above: string, below: string): number {
  return timing(timings, above).min / timing(timings, below).min;
}
