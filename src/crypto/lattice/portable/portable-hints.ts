/**
 * Hints by the portable kernel: G_c = sum over k of a~_k B_(c,k) + a~* r_c + e'_c. Chains are added up in transformed
 * form: a bin's rows are transformed once for all candidates after it.
 */
import { assert } from "../../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import { adjoint, type CommonRows, type Limbs } from "./common-rows.ts";
import type { BinChains } from "../kernel.ts";
import type { Ring } from "./ring.ts";
import { rowsByBin } from "./rows-by-bin.ts";
import { drawBinomial, drawTernary } from "./samplers.ts";
import { KeyStream } from "./streams.ts";
import type { Words } from "./words.ts";

/** Secret and error of a candidate's hint. The secret also masks its answers. */
export function drawHint(seed: Uint8Array, position: number, degree: number): { secret: Int8Array; error: Int8Array } {
  return {
    secret: drawTernary(new KeyStream(seed, "hintSecret", 0, position), degree),
    error: drawBinomial(new KeyStream(seed, "hintError", 0, position), degree),
  };
}

export interface HintMaker {
  readonly ring: Ring;
  readonly rows: CommonRows;
  readonly words: Words;
}

/** @param masks receives each candidate's secret, a byte per coefficient */
export async function makeHints(
  { ring, rows, words }: HintMaker,
  bins: readonly Uint16Array[],
  chains: BinChains,
  seed: Uint8Array,
  target: Uint8Array,
  masks: Uint8Array,
): Promise<void> {
  const { degree } = ring.set;
  await forEachHint({ ring, rows }, bins, chains, seed, (position, hint, secret) => {
    assert((position + 1) * degree <= masks.length, "room for every candidate");
    masks.set(new Uint8Array(secret.buffer), position * degree);
    for (let j = 0; j < degree; j++)
      words.write(
        target,
        position * degree + j,
        words.of((l) => hint[l][j]),
      );
  });
}

/** Every candidate's G_c, before it is rounded to words. */
export async function forEachHint(
  { ring, rows }: Pick<HintMaker, "ring" | "rows">,
  bins: readonly Uint16Array[],
  { binCounts, chainOffsets, sources, targets }: BinChains,
  seed: Uint8Array,
  take: (position: number, hint: Limbs, secret: Int8Array) => void,
): Promise<void> {
  const { degree } = ring.set;
  const members = rowsByBin(bins, binCounts);
  const maskRow = adjoint(rows.maskRow());
  for (let chain = 0; chain + 1 < chainOffsets.length; chain++) {
    const sum = ring.zero();
    for (let step = chainOffsets[chain]; step < chainOffsets[chain + 1]; step++) {
      addBin(ring, rows, members[sources[step]], sum);
      const position = targets[step];
      if (position >= 0) {
        const { secret, error } = drawHint(seed, position, degree);
        const hint = sum.map((limb) => limb.slice());
        ring.addProduct(hint, maskRow, ring.forward(secret));
        take(position, ring.addSmall(ring.backward(hint), error), secret);
      }
      if (isSliceOver()) await nextSlice();
    }
  }
}

/** sum += the public rows of a bin, transformed. */
function addBin(ring: Ring, rows: CommonRows, members: Uint32Array, sum: Limbs): void {
  const { degree } = ring.set;
  for (let from = 0; from < members.length;) {
    const k = Math.floor(members[from] / degree);
    const indicator = new Int8Array(degree);
    for (; from < members.length && members[from] < (k + 1) * degree; from++) indicator[members[from] - k * degree] = 1;
    ring.addProduct(sum, adjoint(rows.block(k)), ring.forward(indicator));
  }
}
