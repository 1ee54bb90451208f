import { beforeAll, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { osRandom } from "../../base/random.ts";
import { ggmKeys, type PuncturedKeys, puncturedKeys } from "./all-but-one.ts";
import { baseReceiverKeys, type BaseReceiverKeys, baseSenderKeys, newAgreementKey } from "./base-ot.ts";
import { addLeaves } from "./bit-columns.ts";
import { BitReceiver, BitSender, pieceBytes, pieceCount, pieceRows } from "./soft-spoken-ot.ts";
import { words as asWords } from "./block-cipher.ts";

let grown: ReturnType<typeof ggmKeys>;
let chosen: BaseReceiverKeys;
let punctured: PuncturedKeys;
beforeAll(async () => {
  const sender = newAgreementKey();
  chosen = await baseReceiverKeys(sender.publicKey, "test", osRandom);
  grown = ggmKeys(await baseSenderKeys(sender, chosen.points, "test"), osRandom);
  punctured = puncturedKeys(chosen, grown.sums);
});

test("the receiver has all leaves but one of each tree, the one opposite to its choices", async () => {
  expect(punctured.leaves).toHaveLength(32);
  for (const [tree, leaves] of grown.leaves.entries()) {
    const choices = Array.from(
      { length: 4 },
      (_, i) => (chosen.choices[(4 * tree + i) >>> 3] >>> ((4 * tree + i) & 7)) & 1,
    );
    const missing = choices.reduce((leaf, bit) => 2 * leaf + 1 - bit, 0);
    expect(punctured.missing[tree]).toBe(missing);
    expect(punctured.leaves[tree]).toEqual(leaves.map((leaf, i) => (i === missing ? null : leaf)));
  }
  const all = grown.leaves.flat().map((leaf) => Buffer.from(leaf).toString("hex"));
  expect(new Set(all).size).toBe(512);
  await expectError(() => puncturedKeys(chosen, grown.sums.subarray(1)), "PROTOCOL_STATE", /4096 were expected/);
});

test("columns are sums over the leaves, each times its number", () => {
  const words = 3;
  const leaves = asWords(osRandom.fill(new Uint8Array(4 * 15 * words)));
  const columns = new Uint32Array(128 * words);
  const sums = new Uint32Array(words);
  addLeaves(leaves, words, 5, columns, sums);
  for (let w = 0; w < words; w++) {
    const sumOf = (takes: (y: number) => boolean): number => {
      let sum = 0;
      for (let y = 1; y < 16; y++) if (takes(y)) sum ^= leaves[(y - 1) * words + w];
      return sum >>> 0;
    };
    for (let bit = 0; bit < 4; bit++)
      expect(columns[(20 + bit) * words + w]).toBe(sumOf((y) => ((y >>> bit) & 1) === 1));
    expect(sums[w]).toBe(sumOf(() => true));
  }
});

let batch = 0;

/** A bitmap without anything beyond its end. */
function bitmap(count: number, fill: (bytes: Uint8Array) => Uint8Array = (bytes) => osRandom.fill(bytes)): Uint8Array {
  const bytes = fill(new Uint8Array(Math.ceil(count / 8)));
  if (count % 8 > 0) bytes[bytes.length - 1] &= (1 << (count % 8)) - 1;
  return bytes;
}

function transfer(
  choices: Uint8Array,
  bits: Uint8Array,
  count: number,
): { readonly got: Uint8Array; readonly masked: Uint8Array; readonly pieces: readonly Uint8Array[] } {
  const number = ++batch;
  const receiving = new BitReceiver(grown.leaves).choose(number, choices, count);
  const sending = new BitSender(punctured).mask(number, bits, count);
  const pieces: Uint8Array[] = [];
  for (let piece = receiving.piece(); piece !== null; piece = receiving.piece()) {
    pieces.push(piece);
    sending.add(piece);
  }
  const masked = sending.masked();
  return { got: receiving.finish(masked), masked, pieces };
}

test.each([1, 7, 8, 31, 32, 33, 129, 1000, pieceRows, pieceRows + 1, 2 * pieceRows + 77])(
  "%i rows: the chosen bits, and no others",
  (count) => {
    const [choices, bits] = [bitmap(count), bitmap(count)];
    const { got, masked, pieces } = transfer(choices, bits, count);
    expect(got).toEqual(choices.map((byte, i) => byte & bits[i]));
    expect(masked).toHaveLength(Math.ceil(count / 8));
    expect(pieces).toHaveLength(pieceCount(count));
    expect(pieces[0]).toHaveLength(pieceBytes(Math.min(count, pieceRows)));
  },
);

test("bits that are not chosen, and all choices, are masked by uniform bits", () => {
  const count = 1 << 13;
  const zeros = bitmap(count, (bytes) => bytes);
  const ones = bitmap(count, (bytes) => bytes.fill(255));
  for (const choices of [zeros, ones]) {
    for (const bits of [zeros, ones]) {
      const { masked, pieces } = transfer(choices, bits, count);
      // Seven standard deviations: once in 10^11.
      for (const sent of [masked, pieces[0]]) {
        const set = sent.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
        expect(Math.abs(set - 4 * sent.length)).toBeLessThan(3.5 * Math.sqrt(8 * sent.length));
      }
    }
  }
});

test("the answer to a row that was not chosen is a uniform bit", () => {
  const count = 1 << 13;
  const bits = bitmap(count, (bytes) => bytes.fill(255));
  const number = ++batch;
  const none = new BitReceiver(grown.leaves).choose(number, new Uint8Array(count / 8), count);
  const all = new BitReceiver(grown.leaves).choose(number, bits, count);
  const sending = new BitSender(punctured).mask(number, bits, count);
  sending.add(none.piece() ?? new Uint8Array(0));
  all.piece();
  // Opened as if all had been chosen: what its own rows hash to is not what masks the bits.
  const guessed = all.finish(sending.masked());
  const right = guessed.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  expect(Math.abs(right - count / 2)).toBeLessThan(3.5 * Math.sqrt(count));
});

test("the same bits and the same choices are masked differently each time", () => {
  const [choices, bits] = [bitmap(256), bitmap(256)];
  const [one, two] = [transfer(choices, bits, 256), transfer(choices, bits, 256)];
  expect(one.masked).not.toEqual(two.masked);
  expect(one.pieces).not.toEqual(two.pieces);
});

test("a batch is used once, and messages that are too short, too long or too early are refused", async () => {
  const [receiver, sender] = [new BitReceiver(grown.leaves), new BitSender(punctured)];
  const receiving = receiver.choose(3, new Uint8Array(5), 40);
  await expectError(() => receiver.choose(3, new Uint8Array(5), 40), "PROTOCOL_STATE", /used before/);
  await expectError(() => receiver.choose(4, new Uint8Array(6), 40), "PROTOCOL_STATE", /of 6 bytes; 5 were/);
  const sending = sender.mask(3, new Uint8Array(5), 40);
  await expectError(() => sender.mask(3, new Uint8Array(5), 40), "PROTOCOL_STATE", /used before/);
  await expectError(() => sending.masked(), "PROTOCOL_STATE", /truncated/);
  await expectError(() => receiving.finish(new Uint8Array(5)), "PROTOCOL_STATE", /before all choices/);
  const piece = receiving.piece() ?? new Uint8Array(0);
  expect(receiving.piece()).toBeNull();
  await expectError(() => sending.add(piece.subarray(1)), "PROTOCOL_STATE", /piece of a matrix of/);
  sending.add(piece);
  await expectError(() => sending.add(piece), "PROTOCOL_STATE", /0 were expected/);
  await expectError(() => receiving.finish(new Uint8Array(6)), "PROTOCOL_STATE", /of 6 bytes; 5 were/);
});
