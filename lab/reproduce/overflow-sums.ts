/**
 * Growing sums of real gradients in BatchCrypt's slots and in the paper's (sec. II-C and III-A, Figs. 2 and 4). The
 * decoder raises an overflow, returns a wrong sum, or returns the sum. Ciphertexts would add exactly these plaintexts,
 * so no key is needed to see it.
 */
import { TandemError } from "../../src/base/error.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { codecWith } from "../../src/base/parameters/parameters.ts";
import { decodeSums, encode, quantise } from "../../src/codec/batch-codec.ts";
import { batchcryptDecode, batchcryptEncode, batchcryptQuantise, type BatchCryptSlot } from "./batchcrypt.ts";
import { buildLayout, paperSlots } from "../../src/codec/layout.ts";
import { plaintextBitsMax } from "../../src/codec/packing.ts";
import { bigintsFromPlaintexts, PlaintextVector } from "../../src/crypto/paillier/index.ts";
import { writeInteger } from "../../src/crypto/integers.ts";
import { paperAlpha, paperShift } from "./paper.ts";
import type { PaperDataset } from "../trials/paper-datasets.ts";
import type { GradientSnapshot, RealGradients } from "./real-gradients.ts";

export const encodings = ["BatchCrypt, g above h", "BatchCrypt, h above g", "Proposed"] as const;
export type Encoding = (typeof encodings)[number];

/** Fractions of all drawn sums; the rest came out right. */
export interface Failures {
  readonly raised: number;
  readonly wrong: number;
}

export interface OverflowRow {
  readonly count: number;
  readonly negatives: number;
  readonly failures: Readonly<Record<Encoding, Failures>>;
}

type Verdict = "right" | "raised" | "wrong";

/** One encoding of all instances of a snapshot, and what its decoder makes of a sum. */
interface Encoded {
  readonly plaintexts: readonly bigint[];
  verdict(sum: bigint, instances: Uint32Array): Verdict;
}

/** Bits of the key in whose plaintext space the sums are taken; two slots fit into every key. */
const keyBits = 1024;

export function overflowRows(
  gradients: RealGradients,
  dataset: PaperDataset,
  draws: number,
  seed: number,
): OverflowRow[] {
  const counts = growingCounts(gradients.instanceCount);
  const tallies = new Map(
    counts.map((count) => [
      count,
      { negatives: 0, failures: Object.fromEntries(encodings.map((name) => [name, { raised: 0, wrong: 0 }])) },
    ]),
  );
  const encoded = gradients.snapshots.map((snapshot) => ({ snapshot, by: encodeAll(snapshot, dataset) }));
  const random = new SeededRandom(`overflow-${seed}`);
  for (let draw = 0; draw < draws; draw++) {
    const { snapshot, by } = encoded[draw % encoded.length];
    const order = random.permutation(gradients.instanceCount);
    const sums = encodings.map(() => 0n);
    let added = 0;
    let negatives = 0;
    for (const count of counts) {
      for (; added < count; added++) {
        encodings.forEach((name, e) => (sums[e] += by[name].plaintexts[order[added]]));
        if (snapshot.g[order[added]] < 0) negatives++;
      }
      const tally = tallies.get(count);
      if (tally === undefined) continue;
      tally.negatives += negatives;
      encodings.forEach((name, e) => {
        const verdict = by[name].verdict(sums[e], order.subarray(0, count));
        if (verdict !== "right") tally.failures[name][verdict] += 1 / draws;
      });
    }
  }
  return [...tallies].map(([count, { negatives, failures }]) => ({
    count,
    negatives: negatives / draws,
    failures: failures as Record<Encoding, Failures>,
  }));
}

/**
 * First one by one, where the paper's example fails, then by powers of two. Never all instances: every draw would have
 * the same sum.
 */
function growingCounts(instanceCount: number): number[] {
  const counts = [1, 2, 3, 4, 5, 6, 7, 8, 12];
  for (let count = 16; count < instanceCount; count *= 2) counts.push(count);
  return counts.filter((count) => count < instanceCount);
}

function encodeAll({ g, h }: GradientSnapshot, dataset: PaperDataset): Record<Encoding, Encoded> {
  return {
    "BatchCrypt, g above h": batchCrypt([g, h], dataset),
    "BatchCrypt, h above g": batchCrypt([h, g], dataset),
    Proposed: proposed([g, h], dataset),
  };
}

/**
 * As favourable to BatchCrypt as can be: its range is alpha_max, as wide as the paper's, so that no sum is too large
 * for it.
 */
export function batchCryptSlot({ alphaMax, r }: Pick<PaperDataset, "alphaMax" | "r">): BatchCryptSlot {
  return { alpha: alphaMax, r: r + 1, overflowBits: 2 };
}

function batchCrypt(columns: readonly Float64Array[], dataset: PaperDataset): Encoded {
  const slot = batchCryptSlot(dataset);
  const quantised = columns.map((column) => Array.from(column, (value) => batchcryptQuantise(slot, value)));
  return {
    plaintexts: quantised[0].map((_, i) =>
      batchcryptEncode(
        slot,
        quantised.map((column) => column[i]),
      ),
    ),
    verdict: (sum, instances) => judged(quantised, instances, () => batchcryptDecode(slot, sum, columns.length)),
  };
}

function proposed(columns: readonly Float64Array[], dataset: PaperDataset): Encoded {
  const instanceCount = columns[0].length;
  const parameters = codecWith({
    layout: "paper",
    shift: paperShift,
    codec_alpha: paperAlpha,
    alpha_max: dataset.alphaMax,
    r: dataset.r,
  });
  const layout = buildLayout(
    "batched",
    paperSlots(parameters, columns.length, instanceCount),
    instanceCount,
    plaintextBitsMax(keyBits),
  );
  const quantised = quantise(layout, columns);
  const plaintexts = encode(
    layout,
    quantised,
    Uint32Array.from({ length: instanceCount }, (_, i) => i),
  );
  const sumBytes = plaintexts.sizeBytes + 4; // room for what would overflow the highest slot
  return {
    plaintexts: bigintsFromPlaintexts(plaintexts),
    verdict: (sum, instances) =>
      judged(quantised.columns, instances, () => {
        const vector = new PlaintextVector(new Uint8Array(sumBytes), sumBytes);
        writeInteger(vector.bytes, sumBytes, 0, sum);
        const sums = new Float64Array(columns.length);
        decodeSums(layout, 0, vector.bytes, 0, instances.length, sums, 0);
        return [...sums];
      }),
  };
}

/** Compares a decoder's results with the integer sums. */
function judged(
  columns: readonly ArrayLike<number>[],
  instances: Uint32Array,
  decode: () => readonly number[],
): Verdict {
  try {
    const decoded = decode();
    const right = columns.every((column, slot) => {
      let sum = 0;
      for (const instance of instances) sum += column[instance];
      return sum === decoded[slot];
    });
    return right ? "right" : "wrong";
  } catch (error) {
    if (error instanceof TandemError && error.code === "DECODE_OVERFLOW") return "raised";
    throw error;
  }
}
