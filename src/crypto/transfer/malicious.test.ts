/** What a malicious party of each role gains: the sentences of base-ot.ts, matrix-proof.ts and docs/leakage.md. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { osRandom } from "../../base/random.ts";
import { readInteger } from "../integers.ts";
import { ggmKeys, levels, puncturedKeys } from "./all-but-one.ts";
import {
  baseCount,
  baseReceiverKeys,
  type BaseReceiverKeys,
  baseSenderKeys,
  type BaseSenderKeys,
  newAgreementKey,
} from "./base-ot.ts";
import { bytesOf, Streams, words } from "./block-cipher.ts";
import {
  add,
  basePoint,
  encodedAll,
  fromMontgomery,
  groupOrder,
  hasPrimeOrder,
  montgomeryBytes,
  Multiples,
  type Point,
  pointBytes,
} from "../edwards25519.ts";
import { TransferReceiver, TransferSender } from "./iknp-ot.ts";
import { ColumnHash, maskWords, proofBytes, proofOf, withMask } from "./matrix-proof.ts";
import { BitReceiver, BitSender } from "./soft-spoken-ot.ts";

const encoded = (point: Point): Uint8Array => encodedAll([point]);
const toMontgomery = (point: Point): Uint8Array => montgomeryBytes([point]);

/** A point of the curve and its component of small order, which is the neutral point once in eight times. */
function pointOfAnyOrder(): { readonly point: Point; readonly small: Multiples; torsion: Point } {
  for (;;) {
    const bytes = osRandom.fill(new Uint8Array(pointBytes));
    bytes[pointBytes - 1] &= 127;
    try {
      const point = fromMontgomery(bytes);
      const small = new Multiples(point);
      return { point, small, torsion: small.by(groupOrder) };
    } catch {
      // Half of all numbers are not on the curve.
    }
  }
}

describe("base transfers", () => {
  test("a receiver that sends half of the sender's key does not make both keys of a transfer equal", async () => {
    const sender = newAgreementKey();
    const half = encoded(new Multiples(fromMontgomery(sender.publicKey)).by((groupOrder + 1n) / 2n));
    const points = new Uint8Array(baseCount * pointBytes);
    for (let i = 0; i < baseCount; i++) points.set(half, i * pointBytes);
    const keys = (await baseSenderKeys(sender, points, "half")).flat().map((key) => Buffer.from(key).toString("hex"));
    expect(new Set(keys).size).toBe(2 * baseCount);
  });

  test("a sender's key outside the prime-order subgroup is refused, with each component of small order", async () => {
    const components = new Set<string>();
    while (components.size < 8) {
      const { point, small, torsion } = pointOfAnyOrder();
      const component = Buffer.from(encoded(torsion)).toString("hex");
      if (components.has(component)) continue;
      components.add(component);
      const keys = baseReceiverKeys(toMontgomery(point), "orders", osRandom);
      if (hasPrimeOrder(small)) await keys;
      else await expectError(() => keys, "PROTOCOL_STATE", /not in the prime-order subgroup/);
    }
  });

  test("a receiver's point outside the subgroup gives the keys of its component in the subgroup", async () => {
    const sender = newAgreementKey();
    const { torsion } = pointOfAnyOrder();
    const scalar = readInteger(osRandom.fill(new Uint8Array(32)), 32, 0) % groupOrder;
    const bytes = encoded(add(new Multiples(basePoint).by(scalar), torsion));
    const points = new Uint8Array(baseCount * pointBytes);
    for (let i = 0; i < baseCount; i++) points.set(bytes, i * pointBytes);
    const [[first]] = await baseSenderKeys(sender, points, "mixed");
    const secret = toMontgomery(new Multiples(fromMontgomery(sender.publicKey)).by(scalar));
    const hash = createHash("sha256").update("tandem/transfer/v2/0/7/mixed/0/");
    expect(first).toEqual(
      new Uint8Array(hash.update(sender.publicKey).update(bytes).update(secret).digest().subarray(0, 16)),
    );
  });
});

let pairs: BaseSenderKeys;
let chosen: BaseReceiverKeys;
beforeAll(async () => {
  const sender = newAgreementKey();
  chosen = await baseReceiverKeys(sender.publicKey, "test", osRandom);
  pairs = await baseSenderKeys(sender, chosen.points, "test");
});

const bitOf = (bytes: Uint8Array, i: number): number => (bytes[i >>> 3] >>> (i & 7)) & 1;

test("the hash of a column is the polynomial of its blocks, in GF(2^128)", () => {
  const times = (a: bigint, b: bigint): bigint => {
    let product = 0n;
    for (let i = 127n; i >= 0n; i--) {
      product <<= 1n;
      if (product >> 128n === 1n) product ^= (1n << 128n) | 0x87n;
      if (((a >> i) & 1n) === 1n) product ^= b;
    }
    return product;
  };
  const integer = (some: Uint32Array): bigint => some.reduceRight((all, word) => (all << 32n) | BigInt(word), 0n);
  const point = osRandom.fill(new Uint8Array(16));
  const column = words(osRandom.fill(new Uint8Array(4 * (9 + maskWords))));
  const padded = new Uint32Array(16);
  padded.set(column.subarray(0, 9));
  padded.set(column.subarray(9), 12);
  let expected = 0n;
  for (let block = 0; block < 4; block++)
    expected = times(expected ^ integer(padded.subarray(4 * block, 4 * block + 4)), integer(words(point)));
  expect(integer(new ColumnHash(point).of(column, column.length))).toBe(expected);
});

const shape = { width: 1, limbs: 1 };
const rowCount = 40;

/** The matrix of a receiver that flips its first choice in some columns, and guesses the sender's secret there. */
function inconsistentMatrix(guesses: ReadonlyMap<number, number>): Uint8Array {
  const [columns, others] = [0, 1].map((side) =>
    new Streams(pairs.map((pair) => pair[side])).columns({ batch: 1, block: 0 }, 2 + maskWords),
  );
  const choices = withMask(new Uint32Array(2));
  const sent = columns.map((word, at) => word ^ others[at] ^ choices[at % choices.length]);
  for (const [column, guess] of guesses) {
    sent[column * choices.length] ^= 1;
    columns[column * choices.length] ^= guess;
  }
  const matrix = new Uint8Array(sent.byteLength + proofBytes);
  matrix.set(bytesOf(sent));
  matrix.set(proofOf({ batch: 1, first: 0 }, bytesOf(sent), choices, columns), sent.byteLength);
  return matrix;
}

describe("the extension for products", () => {
  const multiply = (matrix: Uint8Array, sender = new TransferSender(chosen)): Promise<unknown> =>
    sender.multiply(1, new Uint32Array(rowCount), matrix, shape);

  test("inconsistent columns pass only with the right guess of the sender's secret", async () => {
    await multiply(inconsistentMatrix(new Map()));
    for (let column = 0; column < 12; column++) {
      const secret = bitOf(chosen.choices, column);
      await multiply(inconsistentMatrix(new Map([[column, secret]])));
      const wrong = inconsistentMatrix(new Map([[column, 1 - secret]]));
      await expectError(() => multiply(wrong), "PROTOCOL_STATE", /inconsistent/);
    }
  });

  test("of t bits that are guessed all must be right", async () => {
    const columns = [3, 64, 100];
    for (let guess = 0; guess < 8; guess++) {
      const bits = columns.map((column, i): [number, number] => [column, (guess >>> i) & 1]);
      const isRight = bits.every(([column, bit]) => bit === bitOf(chosen.choices, column));
      const sending = multiply(inconsistentMatrix(new Map(bits)));
      if (isRight) await sending;
      else await expectError(() => sending, "PROTOCOL_STATE", /inconsistent/);
    }
  });

  test("a wrong guess closes the session, for honest batches too; no correction was sent", async () => {
    const sender = new TransferSender(chosen);
    const wrong = inconsistentMatrix(new Map([[7, 1 - bitOf(chosen.choices, 7)]]));
    await expectError(() => multiply(wrong, sender), "PROTOCOL_STATE", /inconsistent/);
    const honest = await new TransferReceiver(pairs).begin(2, new Uint8Array(rowCount), shape);
    await expectError(
      () => sender.multiply(2, new Uint32Array(rowCount), honest.matrix, shape),
      "PROTOCOL_STATE",
      /open a new session/,
    );
  });

  test("a changed byte of matrix or proof is inconsistent", async () => {
    const honest = inconsistentMatrix(new Map());
    // In a column whose secret bit is 0 the sender ignores the matrix, but it is part of the challenge.
    for (const at of [0, 24, 4 * 6 * 127, honest.length - 40, honest.length - 1]) {
      const changed = honest.slice();
      changed[at] ^= 4;
      await expectError(() => multiply(changed), "PROTOCOL_STATE", /inconsistent/);
    }
  });

  test("the proof shows nothing of the choices: its sum is masked by fresh random choices", async () => {
    const receiver = new TransferReceiver(pairs);
    const ones = new Float64Array(128);
    const count = 100;
    for (let batch = 1; batch <= count; batch++) {
      const { matrix } = await receiver.begin(batch, new Uint8Array(rowCount).fill(1), shape);
      const sum = matrix.subarray(-proofBytes, -proofBytes + 16);
      for (let i = 0; i < 128; i++) ones[i] += bitOf(sum, i);
    }
    // Seven standard deviations.
    for (const one of ones) expect(Math.abs(one - count / 2)).toBeLessThan(3.5 * Math.sqrt(count));
  });

  test("a sender's false corrections change the sum, and the receiver cannot notice", async () => {
    const bits = Uint8Array.from({ length: rowCount }, (_, i) => i & 1);
    const pending = await new TransferReceiver(pairs).begin(1, bits, shape);
    const { kept, corrections } = await new TransferSender(chosen).multiply(
      1,
      new Uint32Array(rowCount),
      pending.matrix,
      shape,
    );
    const marked = words(corrections).map((word, i) => word + 1000 + i);
    const got = pending.finish(bytesOf(marked));
    expect([...got].map((share, i) => (share + kept[i]) >>> 0)).toEqual([...bits].map((bit, i) => bit * (1000 + i)));
  });
});

describe("the extension for bits", () => {
  const bits = new Uint8Array(5);

  /** Other sums of trees. */
  const withSums = (change: (sums: Uint8Array) => void): { receiver: BitReceiver; sender: BitSender } => {
    const { leaves, sums } = ggmKeys(pairs, osRandom);
    change(sums);
    return { receiver: new BitReceiver(leaves), sender: new BitSender(puncturedKeys(chosen, sums)) };
  };

  test("wrong sums of a tree pass only if the sender does not use them", async () => {
    for (let base = 0; base < 2 * levels; base++) {
      for (const side of [0, 1]) {
        const { receiver, sender } = withSums((sums) => (sums[(2 * base + side) * 16] ^= 1));
        const piece = receiver.choose(1, bits, rowCount).piece() ?? new Uint8Array(0);
        const sending = sender.mask(1, bits, rowCount);
        if (side !== bitOf(chosen.choices, base)) sending.add(piece);
        else await expectError(() => sending.add(piece), "PROTOCOL_STATE", /inconsistent/);
      }
    }
  });

  test("inconsistent columns do not pass, and close the session before masked bits are sent", async () => {
    const { receiver, sender } = withSums(() => undefined);
    const piece = receiver.choose(1, bits, rowCount).piece() ?? new Uint8Array(0);
    piece[4 * 6 * 5] ^= 1;
    const sending = sender.mask(1, bits, rowCount);
    await expectError(() => sending.add(piece), "PROTOCOL_STATE", /inconsistent/);
    await expectError(() => sender.mask(2, bits, rowCount), "PROTOCOL_STATE", /open a new session/);
  });
});
