/**
 * Encode and decode by a GradientLayout (paper sec. III-A): gradients to the integer grid, the grid to plaintexts, and
 * decrypted sums back to integer slot sums. Only base/gradients/quantised-gradients.ts converts them back to real
 * numbers.
 */
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { highLimb, type QuantisedGradients, type SlotGrid } from "../base/gradients/quantised-gradients.ts";
import { PlaintextVector } from "../crypto/paillier/vectors.ts";
import { readField, writeField } from "./bit-fields.ts";
import type { GradientLayout } from "./layout.ts";
import { quantiseColumn } from "./quantise-column.ts";
import { noiseOffset, quantisedMax, type Slot, slotBits, type SlotNoise, slotResolution } from "./slot.ts";

/** Per slot the grid on which its integers live. */
export function layoutGrids(layout: GradientLayout): SlotGrid[] {
  return layout.slots.map((slot) => ({
    shift: slot.noise === undefined ? slot.shift : 0,
    resolution: slotResolution(slot),
  }));
}

/** Shift, truncate and quantise: one Float64Array of values per slot. */
export function quantise(layout: GradientLayout, values: readonly Float64Array[]): QuantisedGradients {
  assert(values.length === layout.slots.length, "one array of values per slot");
  const instanceCount = values[0].length;
  assert(instanceCount <= layout.instanceCountMax, "the layout was proven for at least this many instances");
  const columns = values.flatMap((column, index) => {
    const quantised = quantiseColumn(layout.slots[index], column);
    return layout.limbs === 1
      ? [quantised]
      : [quantised.map((q) => Math.floor(q / highLimb)), quantised.map((q) => q - Math.floor(q / highLimb) * highLimb)];
  });
  const { hidesCounts, noise } = layout;
  return { instanceCount, grids: layoutGrids(layout), columns, hidesCounts, ...(noise && { noise }) };
}

/** Batches the given instances: their plaintexts one after the other, layout.plaintexts.length per instance. */
export function encode(layout: GradientLayout, gradients: QuantisedGradients, instances: Uint32Array): PlaintextVector {
  const sizeBytes = Math.ceil(layout.plaintextBits / 8);
  const perInstance = layout.plaintexts.length;
  const bytes = new Uint8Array(instances.length * perInstance * sizeBytes);
  const { columns } = gradients;
  const excess = layout.slots.map(({ noise }) => noise?.excess ?? 0);
  const value = (slot: number, instance: number): number =>
    excess[slot] +
    (layout.limbs === 1
      ? columns[slot][instance]
      : columns[2 * slot][instance] * highLimb + columns[2 * slot + 1][instance]);
  for (let p = 0; p < perInstance; p++) {
    const fields = fieldsOf(layout, p);
    for (let i = 0; i < instances.length; i++) {
      const start = (i * perInstance + p) * sizeBytes;
      const field = bytes.subarray(start, start + sizeBytes);
      for (const { slot, offset } of fields) writeField(field, offset, value(slot, instances[i]));
    }
  }
  return new PlaintextVector(bytes, sizeBytes);
}

/**
 * Reads the slot sums of one aggregate of `count` instances from plaintext `p` at `bitOffset` of `bytes` and writes
 * them to the row of `target` that starts at `targetOffset`. With noise `count` is the maximum possible; an empty
 * aggregate has no noise.
 * @throws TandemError DECODE_OVERFLOW if padding bits are all ones, or a sum exceeds what `count` values allow
 */
export function decodeSums(
  layout: GradientLayout,
  p: number,
  bytes: Uint8Array,
  bitOffset: number,
  count: number,
  target: Float64Array,
  targetOffset: number,
): void {
  for (const { slot: index, offset } of fieldsOf(layout, p)) {
    const slot = layout.slots[index];
    const start = bitOffset + offset;
    if (slot.noise !== undefined) {
      const field = readWide(bytes, start, slotBits(slot));
      writeSum(layout, noisySum(slot, slot.noise, field, count), target, targetOffset, index);
    } else if (layout.limbs === 1) {
      const sum = readField(bytes, start, slotBits(slot));
      // Padding bits '11': the paper's overflow error. The second test catches every other impossible sum.
      const paddingValue = Math.floor(sum / 2 ** slot.r);
      if (paddingValue === 2 ** slot.padding - 1 || sum > count * quantisedMax(slot)) throw overflow();
      target[targetOffset + index] = sum;
    } else {
      const [high, low] = readLimbs(bytes, start, slot);
      const sum = BigInt(high) * BigInt(highLimb) + BigInt(low);
      const paddingValue = sum >> BigInt(slot.r);
      if (paddingValue === 2n ** BigInt(slot.padding) - 1n || sum > BigInt(count) * BigInt(quantisedMax(slot)))
        throw overflow();
      target[targetOffset + 2 * index] = high;
      target[targetOffset + 2 * index + 1] = low;
    }
  }
}

function readLimbs(bytes: Uint8Array, start: number, slot: Slot): [high: number, low: number] {
  const lowBits = Math.min(Math.log2(highLimb), slotBits(slot));
  return [readField(bytes, start + lowBits, slotBits(slot) - lowBits), readField(bytes, start, lowBits)];
}

/** @throws TandemError DECODE_OVERFLOW for a sum beyond what `count` values and the largest noise allow */
function noisySum(slot: Slot, noise: SlotNoise, field: bigint, count: number): bigint {
  const { largest, excess, max } = noise;
  const sum = field - noiseOffset(noise);
  const most = count === 0 ? 0n : BigInt(max);
  const lowest = -BigInt(count) * BigInt(excess) - most;
  if (field >> BigInt(slot.r) !== 0n || sum < lowest || sum > BigInt(count) * BigInt(largest) + most) throw overflow();
  return sum;
}

function writeSum(layout: GradientLayout, sum: bigint, target: Float64Array, targetOffset: number, slot: number): void {
  if (layout.limbs === 1) {
    target[targetOffset + slot] = Number(sum);
    return;
  }
  const high = sum >> limbBits;
  target[targetOffset + 2 * slot] = Number(high);
  target[targetOffset + 2 * slot + 1] = Number(sum - (high << limbBits));
}

/**
 * Writes what the passive party adds to plaintext `p` of an aggregate: noise, and the offset in place of the excess of
 * its `count` values. It is written at `bitOffset` of `bytes`, which is zero there.
 * @param noise per slot, for this aggregate
 */
export function encodeNoise(
  layout: GradientLayout,
  p: number,
  bytes: Uint8Array,
  bitOffset: number,
  count: number,
  noise: Float64Array,
): void {
  for (const { slot: index, offset } of fieldsOf(layout, p)) {
    const slot = layout.slots[index];
    assert(slot.noise !== undefined, "the layout has noise");
    const constant = noiseOffset(slot.noise) - BigInt(count) * BigInt(slot.noise.excess) + BigInt(noise[index]);
    assert(constant >= 0n, "noise is within its bounds");
    writeField(bytes, bitOffset + offset, Number(constant & lowMask));
    writeField(bytes, bitOffset + offset + Number(limbBits), Number(constant >> limbBits));
  }
}

function readWide(bytes: Uint8Array, start: number, width: number): bigint {
  const lowBits = Math.min(Number(limbBits), width);
  return (
    (BigInt(readField(bytes, start + lowBits, width - lowBits)) << limbBits) + BigInt(readField(bytes, start, lowBits))
  );
}

const limbBits = BigInt(Math.log2(highLimb));
const lowMask = BigInt(highLimb) - 1n;

function overflow(): TandemError {
  return new TandemError(
    "DECODE_OVERFLOW",
    "a decrypted sum overflows its slot: wrong key, corrupt data or a deviating peer",
  );
}

export interface Field {
  readonly slot: number;
  readonly offset: number;
}

const fieldCache = new WeakMap<GradientLayout, readonly (readonly Field[])[]>();

/** The slots of plaintext p with their bit offsets, eq. (8): the first slot highest. */
export function fieldsOf(layout: GradientLayout, p: number): readonly Field[] {
  let fields = fieldCache.get(layout);
  if (fields === undefined) {
    fields = layout.plaintexts.map((members) => {
      let offset = 0;
      const rising = [...members].reverse().map((slot) => {
        const field = { slot, offset };
        offset += slotBits(layout.slots[slot]);
        return field;
      });
      return rising.reverse();
    });
    fieldCache.set(layout, fields);
  }
  return fields[p];
}
