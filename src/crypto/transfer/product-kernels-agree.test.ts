/** With the same keys and coins both parties' messages and shares are the same bytes with every kernel. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { osRandom, SeededRandom } from "../../base/random.ts";
import { words } from "./block-cipher.ts";
import { TransferReceiver, TransferSender } from "./iknp-ot.ts";
import { loadNativeProducts } from "./native-product-kernel.ts";
import { heldWords, portableProducts, type ProductKernel, type RowPiece, sentWords } from "./product-kernel.ts";
import { addResidues } from "./residues.ts";

interface Shaped {
  readonly count: number;
  readonly width: number;
  readonly limbs: number;
}

const shapes: readonly Shaped[] = [
  { count: 1, width: 2, limbs: 2 },
  { count: 31, width: 1, limbs: 1 },
  { count: 97, width: 2, limbs: 2 },
  { count: 128, width: 3, limbs: 3 },
  { count: 129, width: 6, limbs: 2 },
  { count: 300, width: 9, limbs: 3 },
];

/** Keys as base transfers give them. */
function baseKeys(random: SeededRandom) {
  const key = (): Uint8Array => new Uint8Array(Uint32Array.from({ length: 4 }, () => random.uint32()).buffer);
  const pairs = Array.from({ length: 128 }, (): [Uint8Array, Uint8Array] => [key(), key()]);
  const choices = key();
  const keys = pairs.map((pair, j) => pair[(choices[j >>> 3] >>> (j & 7)) & 1]);
  return { pairs, chosen: { choices, keys } };
}

/** Everything that a kernel computes of a piece. */
function computed(kernel: ProductKernel, { count, width, limbs }: Shaped, piece: RowPiece): Record<string, unknown> {
  const random = new SeededRandom(`products of ${count}`);
  const draw = (length: number): Uint32Array => Uint32Array.from({ length }, () => random.uint32());
  const { pairs, chosen } = baseKeys(random);
  const secret = words(chosen.choices);
  const bits = Uint8Array.from({ length: count }, () => random.below(2));
  const choices = new Uint32Array(heldWords(count));
  bits.forEach((bit, i) => (choices[i >>> 5] |= bit << (i & 31)));
  choices.set(draw(4), choices.length - 4);
  const [own, theirs] = [draw(128 * choices.length), draw(128 * choices.length)]; // whatever was there before
  const matrix = new Uint8Array(128 * 4 * sentWords(count));
  kernel.receiverKeys(pairs).piece(piece, choices, own, matrix);
  kernel.senderKeys(chosen.keys, secret).piece(piece, matrix, theirs);
  const shares = draw(count * width);
  kernel.hashes(own, piece, width, shares);
  // All ones and zeros too: carries and borrows run through all limbs.
  const values = draw(count * width).map((word, i) => [word, 0, 0xffffffff][i % 3]);
  const corrections = new Uint8Array(4 * values.length);
  const kept = new Uint32Array(values.length);
  kernel.correct(theirs, piece, secret, { width, limbs }, { values, corrections, kept });
  const before = shares.slice();
  kernel.addChosen(bits, { width, limbs }, corrections, shares);
  const point = new Uint8Array(draw(4).buffer);
  const sums = [kernel.columnHashes(point, own, choices.length), kernel.columnHashes(point, choices, choices.length)];
  return { own, theirs, matrix, before, corrections, kept, shares, sums };
}

const piece = (count: number): RowPiece => ({ batch: 2 ** 40 + 5, block: 2 ** 32 - 2, first: 2 ** 32 - 7, count });

it("portable: what stored keys give, by its digest", () => {
  const hash = createHash("sha256");
  for (const shape of shapes)
    for (const part of Object.values(computed(portableProducts, shape, piece(shape.count))).flat())
      if (part instanceof Uint8Array || part instanceof Uint32Array) hash.update(part);
  expect(hash.digest("hex")).toMatchInlineSnapshot(
    `"7eb857688e3083604d4296bcebe42ceb2d8fcdfd3b85b1625face98d835c6b9c"`,
  );
});

describe.each([...loadNativeProducts().kernels.values()])("$name", (kernel) => {
  it.each(shapes)("computes what the portable kernel computes, of $count transfers, $width wide", (shape) => {
    expect(computed(kernel, shape, piece(shape.count))).toEqual(computed(portableProducts, shape, piece(shape.count)));
  });

  it.each([97, 8200])(
    "multiplies %i numbers with a party that has the portable kernel, in both roles",
    async (count) => {
      const { pairs, chosen } = baseKeys(new SeededRandom("base keys"));
      const bits = osRandom.fill(new Uint8Array(count)).map((byte) => byte & 1);
      const values = words(osRandom.fill(new Uint8Array(8 * count)));
      for (const [receiving, sending] of [
        [kernel, portableProducts],
        [portableProducts, kernel],
      ]) {
        const shape = { width: 2, limbs: 2 };
        const pending = await new TransferReceiver(pairs, receiving).begin(1, bits, shape);
        const { kept, corrections } = await new TransferSender(chosen, sending).multiply(
          1,
          values.slice(),
          pending.matrix,
          shape,
        );
        const sum = pending.finish(corrections);
        addResidues(sum, kept, 2);
        expect(sum).toEqual(values.map((word, i) => (bits[i >>> 1] === 1 ? word : 0)));
      }
    },
  );

  it("refuses keys of the other role, and columns of other rows", () => {
    const keys = Array.from({ length: 128 }, () => new Uint8Array(16));
    const sender = kernel.senderKeys(keys, new Uint32Array(4));
    const columns = new Uint32Array(128 * heldWords(40));
    expect(() => sender.piece(piece(40), new Uint8Array(128 * 4 * sentWords(40) - 4), columns)).toThrow(TypeError);
    expect(() => kernel.hashes(columns, piece(200), 1, new Uint32Array(200))).toThrow(/columns of these rows/);
    expect(() =>
      kernel.addChosen(new Uint8Array(3), { width: 2, limbs: 2 }, new Uint8Array(8), new Uint32Array(6)),
    ).toThrow(/a bit for every transfer/);
  });
});
