/**
 * Arguments of the native addon. A valid call of every function is changed in one or two of its arguments: other types,
 * other lengths, other numbers, buffers that are gone. It must throw, reject or compute; the process must live.
 */
import { createRequire } from "node:module";
import { packagePath } from "../../../src/base/package-root.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import { integerBytes } from "../../../src/crypto/integers.ts";
import { generateKey } from "../../../src/crypto/paillier/index.ts";
import { ownerConstants } from "../../../src/crypto/paillier/owner-constants.ts";
import { curveCalls } from "./curve-calls.ts";
import { dataCalls } from "./data-calls.ts";
import type { FuzzFormat, Outcome } from "./fuzz-format.ts";
import { latticeCalls } from "./lattice-calls.ts";
import { oneOf } from "./mutate.ts";

type Call = readonly [name: string, ...values: unknown[]];
type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

const oddNumbers = [-1, 0, 1, 2, 0.5, 3, 7, 8, 16, 255, 257, 65_536, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53, 2 ** 64, -0];
const oddArguments: readonly ((random: SeededRandom) => unknown)[] = [
  () => undefined,
  () => null,
  () => "avx2",
  () => "x".repeat(100),
  () => true,
  () => 10n,
  () => Symbol("s"),
  () => ({}),
  () => [],
  () => () => 1,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  (random) => oneOf(oddNumbers, random),
  (random) => new Uint8Array(random.below(200)),
  (random) => new Uint32Array(random.below(40)).fill(oneOf([0, 1, 5, 2 ** 32 - 1], random)),
  (random) => new Int32Array(random.below(40)).fill(oneOf([0, 1, -1, -(2 ** 31)], random)),
  (random) => new Uint16Array(random.below(40)).fill(65_535),
  (random) => new BigUint64Array(random.below(40)).fill(oneOf([0n, 1n, 2n ** 64n - 1n], random)),
  (random) => new BigInt64Array(random.below(40)).fill(oneOf([0n, -1n, -(2n ** 63n)], random)),
  (random) => new Float64Array(random.below(20)).fill(oneOf([0, Number.NaN, 1e300], random)),
  (random) => [
    new Uint16Array(random.below(9)).fill(oneOf([0, 3, 65_535], random)),
    oneOf([7, new Uint16Array(4)], random),
  ],
  () => new DataView(new ArrayBuffer(8)),
  () => new ArrayBuffer(16),
  () => new SharedArrayBuffer(16),
  () => detached(new Uint8Array(64)),
];

function detached<T extends Uint8Array>(array: T): T {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
}

/** The same kind of thing, a little different. */
function varied(value: unknown, random: SeededRandom): unknown {
  if (typeof value === "number") return oneOf([...oddNumbers, value + 1, value - 1, 2 * value], random);
  if (Array.isArray(value)) return value.map((each: unknown) => (random.below(2) === 0 ? each : varied(each, random)));
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return oneOf(oddArguments, random)(random);
  const array = value as Uint8Array;
  if (array.buffer.byteLength === 0) return value; // gone already
  const kind = random.below(5);
  if (kind === 0) return detached(array.slice());
  if (kind === 1) return array.slice(0, random.below(array.length + 1));
  const Like = array.constructor as Uint8ArrayConstructor;
  // From an odd place in a longer buffer: what is aligned, and what not.
  if (kind === 2) {
    const at = (1 + random.below(7)) * Like.BYTES_PER_ELEMENT;
    const copy = new Like(new ArrayBuffer(array.byteLength + at), at, array.length);
    copy.set(array);
    return copy;
  }
  const copy = array.slice();
  const drawn = oneOf([0, 1, 255, 65_535, 2 ** 32 - 1, -1], random);
  // Numbers of 64 bits are written as bigints.
  const odd = (Like.name.startsWith("Big") ? BigInt(drawn) : drawn) as number;
  if (kind === 3) copy.fill(odd);
  else if (copy.length > 0) copy[random.below(copy.length)] = odd;
  return copy;
}

export const native: FuzzFormat = {
  name: "native",
  async prepare() {
    const path = process.env["TANDEM_FUZZ_ADDON"] ?? packagePath("build", "tandem.node");
    const addon = createRequire(import.meta.url)(path) as Functions;
    const calls = await validCalls(addon);
    return {
      mutant(random) {
        const [name, ...values] = oneOf(calls, random);
        const changed = values.map((value) => (ArrayBuffer.isView(value) ? structuredClone(value) : value));
        for (let left = 1 + random.below(2); left > 0 && changed.length > 0; left--) {
          const at = random.below(changed.length);
          changed[at] = random.below(2) === 0 ? varied(changed[at], random) : oneOf(oddArguments, random)(random);
        }
        if (random.below(20) === 0) changed.pop();
        if (random.below(20) === 0) changed.push(...changed);
        return [name, ...changed] as Call;
      },
      async read([name, ...values]: Call): Promise<Outcome> {
        let result: unknown;
        try {
          result = await addon[name](...values);
        } catch {
          return "refused";
        }
        return typeof result === "number" && result >= 0 ? "refused" : "read";
      },
    };
  },
};

/** Calls on a toy key, and of the lattice and curve schemes on every kernel, that all succeed. */
async function validCalls(addon: Functions): Promise<Call[]> {
  const key = await generateKey({ bits: 256, insecure: true });
  const { n, plaintextBytes, ciphertextBytes } = key.publicKey;
  const { p, q, qInverse, qSquaredInverse } = ownerConstants(key);
  const half = Math.ceil(plaintextBytes / 2);
  const nBytes = integerBytes(n, plaintextBytes);
  const [kernel] = addon["kernels"]() as string[];
  const owner: Call = [
    "createPrivate",
    kernel,
    nBytes,
    ...[p.prime, q.prime, p.generator, q.generator, p.plaintextFactor, q.plaintextFactor, qInverse].map((value) =>
      integerBytes(value, half),
    ),
    integerBytes(qSquaredInverse, 2 * half),
  ];
  const context = addon["createPublic"](kernel, nBytes);
  const secret = addon["createPrivate"](...owner.slice(1));
  const element = ciphertextBytes;
  const vector = (count: number): Uint8Array => {
    const bytes = new Uint8Array(count * element);
    for (let i = 0; i < count; i++) bytes[i * element] = 2 + i;
    return bytes;
  };
  const words = (...values: number[]): Uint32Array => Uint32Array.from(values);
  const bins = [Uint16Array.of(0, 1, 2, 0), Uint16Array.of(1, 1, 0, 0)];
  const calls: Call[] = [
    ["kernels"],
    ["createPublic", kernel, nBytes],
    owner,
    ["load", context, vector(4), element, vector(6), 1, 2],
    ["unload", context, vector(4), vector(4), element, 2],
    ["multiply", context, vector(4), vector(4), vector(4), 2],
    ["raise", context, vector(4), Uint8Array.of(1, 2, 3, 4), 1, vector(4), 2],
    ["nthPowers", context, Uint8Array.of(1, 2, 3, 4), 1, vector(4), 2],
    ["seal", context, Uint8Array.of(1, 2, 3, 4), 1, vector(4), vector(4), 2],
    ["histogram", context, vector(8), 2, words(0, 2, 3), bins, words(3, 2), Int32Array.of(0, -1), 0, vector(10), 2],
    ["histogram", context, vector(8), 2, words(0, 2, 3), bins, words(3, 2), Int32Array.of(0, -1), 1, vector(10), 2],
    ["runningSums", context, vector(4), words(0, 2, 4), words(0, 1, 2, 3), Int32Array.of(-1, 0, 1, 2), 3, vector(3), 2],
    ["pack", context, vector(4), 20, 3, Uint8Array.of(2, 3), 1, vector(2), 2],
    [
      "encrypt",
      secret,
      Uint8Array.of(1, 2, 3, 4),
      1,
      new Uint8Array(8).fill(3),
      new Uint8Array(8).fill(5),
      2,
      vector(4),
      element,
      2,
    ],
    ["decrypt", secret, vector(4), element, new Uint8Array(4 * plaintextBytes), plaintextBytes, 2],
    [
      "peel",
      Float64Array.of(1, 2, 4),
      words(0),
      words(0, 3),
      words(0, 1, 2),
      Float64Array.of(8),
      words(0, 1, 1),
      Float64Array.of(3),
      1,
      words(3, 3, 3),
      50,
    ],
    ...dataCalls(),
    ...(addon["latticeKernels"]() as string[]).flatMap((name) => latticeCalls(addon, name)),
    ...(await Promise.all((addon["curveKernels"]() as string[]).map((name) => curveCalls(addon, name)))).flat(),
  ];
  for (const [name, ...values] of calls)
    await addon[name](...values.map((value) => (ArrayBuffer.isView(value) ? structuredClone(value) : value)));
  return calls;
}
