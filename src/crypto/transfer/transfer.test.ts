import { createCipheriv, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { osRandom, SeededRandom } from "../../base/random.ts";
import {
  agreedKey,
  baseReceiverKeys,
  type BaseReceiverKeys,
  baseSenderKeys,
  type BaseSenderKeys,
  newAgreementKey,
} from "./base-ot.ts";
import { transposed } from "./bit-transpose.ts";
import { hashRows, Streams, words } from "./block-cipher.ts";
import {
  add,
  basePoint,
  decoded,
  encodedAll,
  fromMontgomery,
  groupOrder,
  isSmallOrder,
  montgomeryBytes,
  Multiples,
  negative,
  type Point,
} from "../edwards25519.ts";
import { matrixBytes, SingleUse, TransferReceiver, TransferSender } from "./iknp-ot.ts";
import type { Shape } from "./product-kernel.ts";
import { addResidues } from "./residues.ts";

const encoded = (point: Point): Uint8Array => encodedAll([point]);
const toMontgomery = (point: Point): Uint8Array => montgomeryBytes([point]);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("edwards25519", () => {
  test("the base point, its order, and multiples that OpenSSL knows", () => {
    expect(hex(encoded(basePoint))).toBe(`58${"66".repeat(31)}`);
    expect(hex(toMontgomery(basePoint))).toBe(`09${"00".repeat(31)}`);
    const multiples = new Multiples(basePoint);
    expect(isSmallOrder(multiples.by(groupOrder))).toBe(true);
    expect(encoded(multiples.by(groupOrder + 1n))).toEqual(encoded(basePoint));
    const { privateKey, publicKey } = generateKeyPairSync("x25519");
    const [d, x] = [privateKey.export({ format: "jwk" }).d ?? "", publicKey.export({ format: "jwk" }).x ?? ""];
    const scalar = BigInt(`0x${hex(Buffer.from(d, "base64url").toReversed())}`);
    const multiple = multiples.by((scalar & ~7n & ((1n << 255n) - 1n)) | (1n << 254n));
    expect(hex(toMontgomery(multiple))).toBe(hex(Buffer.from(x, "base64url")));
  });

  test("sums agree with multiples, and points survive their encodings", () => {
    const multiples = new Multiples(basePoint);
    const big = fc.bigInt({ min: 1n, max: groupOrder - 1n });
    fc.assert(
      fc.property(big, big, (a, b) => {
        const sum = add(multiples.by(a), multiples.by(b));
        expect(encoded(sum)).toEqual(encoded(multiples.by((a + b) % groupOrder)));
        // Of opposite points it is the neutral one, which is refused.
        expect(isSmallOrder(sum)).toBe((a + b) % groupOrder === 0n);
        if (isSmallOrder(sum)) return;
        expect(encoded(decoded(encoded(sum)))).toEqual(encoded(sum));
        const back = fromMontgomery(toMontgomery(sum));
        expect([hex(encoded(sum)), hex(encoded(negative(sum)))]).toContain(hex(encoded(back)));
      }),
      { numRuns: 20, examples: [[1n, groupOrder - 1n]] },
    );
  });

  test("encodings that are not a point, not canonical, or of small order are refused", async () => {
    const one = new Uint8Array(32);
    one[0] = 1;
    const beyond = new Uint8Array(32).fill(255);
    const order8 = Buffer.from("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "hex");
    const off = new Uint8Array(32);
    off[0] = 2; // y = 2 has no x
    for (const bytes of [one, beyond, order8, off, new Uint8Array(32)])
      await expectError(() => decoded(bytes), "PROTOCOL_STATE", /small order/);
    const twist = new Uint8Array(32);
    twist[0] = 2; // u = 2 is on the twist
    for (const bytes of [new Uint8Array(32), one, twist, beyond])
      await expectError(() => fromMontgomery(bytes), "PROTOCOL_STATE", /small order/);
  });
});

const context = "test";
let pairs: BaseSenderKeys;
let chosen: BaseReceiverKeys;
beforeAll(async () => {
  const sender = newAgreementKey();
  chosen = await baseReceiverKeys(sender.publicKey, context, osRandom);
  pairs = await baseSenderKeys(sender, chosen.points, context);
});

describe("base transfers", () => {
  test("the receiver has the key of each of its bits, and not the other", () => {
    expect(pairs).toHaveLength(128);
    pairs.forEach((pair, i) => {
      const bit = (chosen.choices[i >>> 3] >>> (i & 7)) & 1;
      expect(chosen.keys[i]).toEqual(pair[bit]);
      expect(chosen.keys[i]).not.toEqual(pair[1 - bit]);
    });
    expect(new Set(pairs.flat().map(hex)).size).toBe(256);
  });

  test("another context gives other keys, and wrong messages are refused", async () => {
    const sender = newAgreementKey();
    const other = await baseSenderKeys(sender, chosen.points, "other");
    expect(other.flat().some((key) => chosen.keys.some((known) => hex(known) === hex(key)))).toBe(false);
    await expectError(() => baseSenderKeys(sender, chosen.points.subarray(1), context), "PROTOCOL_STATE", /4096 were/);
    const bad = chosen.points.slice();
    bad.fill(255, 32, 64);
    await expectError(() => baseSenderKeys(sender, bad, context), "PROTOCOL_STATE", /no|none/);
    const own = chosen.points.slice();
    own.set(encoded(fromMontgomery(sender.publicKey)), 64);
    await expectError(() => baseSenderKeys(sender, own, context), "PROTOCOL_STATE", /reveals its choice/);
    await expectError(() => baseReceiverKeys(new Uint8Array(32), context, osRandom), "PROTOCOL_STATE", /small order/);
    await expectError(
      () => baseReceiverKeys(new Uint8Array(31), context, osRandom),
      "PROTOCOL_STATE",
      /32 were expected/,
    );
  });

  test("two parties agree on a key", () => {
    const [a, b] = [newAgreementKey(), newAgreementKey()];
    expect(agreedKey(a, b.publicKey, "zero")).toEqual(agreedKey(b, a.publicKey, "zero"));
    expect(agreedKey(a, b.publicKey, "zero")).not.toEqual(agreedKey(b, a.publicKey, "one"));
  });
});

test("rows of a matrix are its columns' bits", () => {
  const columns = words(osRandom.fill(new Uint8Array(128 * 3 * 4)));
  const rows = transposed(columns, 3);
  for (let i = 0; i < 96; i++)
    for (let j = 0; j < 128; j++)
      expect((rows[4 * i + (j >>> 5)] >>> (j & 31)) & 1).toBe((columns[3 * j + (i >>> 5)] >>> (i & 31)) & 1);
});

test("streams are AES-CTR and the hash is TMMO, computed independently", () => {
  const key = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
  const counter = Buffer.alloc(16);
  counter.writeUInt32LE(3, 0);
  counter.writeUInt32LE(9, 8);
  const stream = createCipheriv("aes-128-ecb", key, null).update(counter);
  const piece = new Streams([key]).columns({ batch: 9, block: 3 }, 3);
  expect(hex(new Uint8Array(piece.buffer))).toBe(hex(stream.subarray(0, 12)));

  const pi = (block: Uint8Array): Buffer =>
    createCipheriv("aes-128-ecb", Buffer.from("tandem/transfer1"), null).update(block);
  const xor = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((byte, i) => byte ^ b[i]);
  const row = Buffer.from("00112233445566778899aabbccddeeff", "hex");
  const tweak = Buffer.alloc(16);
  tweak.writeUInt32LE(77, 0);
  tweak.writeUInt32LE(9, 8);
  const hash = hashRows(words(row), 9, 77, 4);
  expect(hex(new Uint8Array(hash.buffer))).toBe(hex(xor(pi(xor(pi(row), tweak)), pi(row))));
  expect(hex(new Uint8Array(hash.buffer))).toMatchInlineSnapshot(`"5e4ec7c989826a2c8ccf5b94e22d8789"`);
});

test("the hash depends on row, batch, transfer and block; and on nothing else", () => {
  const rows = words(osRandom.fill(new Uint8Array(2 * 16)));
  const both = hashRows(rows, 7, 5, 9);
  expect(hashRows(rows.slice(4), 7, 6, 9)).toEqual(both.slice(9));
  expect(hashRows(rows, 7, 5, 4)).toEqual(Uint32Array.of(...both.slice(0, 4), ...both.slice(9, 13)));
  const repeated = Uint32Array.of(...rows.slice(0, 4), ...rows.slice(0, 4));
  const seen = [hashRows(repeated, 7, 5, 12), hashRows(repeated, 8, 5, 12), hashRows(repeated, 7 + 2 ** 40, 5, 12)];
  expect(new Set(seen.flatMap((hashes) => [...hashes])).size).toBe(72);
});

/** Shares added up, as integers. */
function opened(kept: Uint32Array, got: Uint32Array, limbs: number): bigint[] {
  const sum = kept.slice();
  addResidues(sum, got, limbs);
  return Array.from({ length: sum.length / limbs }, (_, i) =>
    sum.subarray(i * limbs, (i + 1) * limbs).reduceRight((all, word) => (all << 32n) | BigInt(word), 0n),
  );
}

describe("products", () => {
  let batch = 0;
  const run = async (bits: Uint8Array, values: Uint32Array, shape: Shape) => {
    const number = ++batch;
    const pending = await new TransferReceiver(pairs).begin(number, bits, shape);
    const { kept, corrections } = await new TransferSender(chosen).multiply(number, values, pending.matrix, shape);
    return { pending, kept, corrections, got: pending.finish(corrections) };
  };

  test.each([
    [1, 1, 1],
    [31, 2, 2],
    [127, 2, 2],
    [128, 1, 1],
    [129, 6, 2],
    [1000, 2, 2],
    [8193, 3, 1],
    [20_000, 2, 2],
  ])("%i of them, %i words wide in integers of %i", async (count, width, limbs) => {
    const bits = osRandom.fill(new Uint8Array(count)).map((byte) => byte & 1);
    const values = words(osRandom.fill(new Uint8Array(4 * count * width)));
    const { kept, got, pending, corrections } = await run(bits, values, { width, limbs });
    const expected = opened(values, new Uint32Array(values.length), limbs).map((value, i) =>
      bits[Math.floor((i * limbs) / width)] === 1 ? value : 0n,
    );
    expect(opened(kept, got, limbs)).toEqual(expected);
    expect(pending.matrix).toHaveLength(matrixBytes(count));
    expect(corrections).toHaveLength(4 * count * width);
  });

  test("all patterns of eight bits", async () => {
    const bits = Uint8Array.from({ length: 2048 }, (_, i) => ((i >>> 3) >>> (i & 7)) & 1);
    const values = Uint32Array.from(bits, (_, i) => i + 1);
    const { kept, got } = await run(bits, values, { width: 1, limbs: 1 });
    expect(opened(kept, got, 1)).toEqual([...bits].map((bit, i) => (bit === 1 ? BigInt(i + 1) : 0n)));
  });

  test("each side's shares and messages are uniform for any factors", async () => {
    const count = 4096;
    for (const fill of [0, 1]) {
      const bits = new Uint8Array(count).fill(fill);
      const { kept, got, corrections, pending } = await run(bits, new Uint32Array(count), { width: 1, limbs: 1 });
      for (const seen of [kept, got, words(corrections), words(pending.matrix)]) {
        const ones = new Float64Array(32);
        for (const word of seen) for (let bit = 0; bit < 32; bit++) ones[bit] += (word >>> bit) & 1;
        // Seven standard deviations: once in 10^10 per place.
        for (const one of ones) expect(Math.abs(one - seen.length / 2)).toBeLessThan(3.5 * Math.sqrt(seen.length));
        expect(new Set(seen).size).toBeGreaterThan(seen.length * 0.99);
      }
    }
  });

  test("the same values and the same bits are masked differently each time", async () => {
    const [bits, values, shape] = [new Uint8Array(64), new Uint32Array(64), { width: 1, limbs: 1 }];
    const [one, two] = [await run(bits, values, shape), await run(bits, values, shape)];
    expect(hex(one.pending.matrix)).not.toBe(hex(two.pending.matrix));
    expect(hex(one.corrections)).not.toBe(hex(two.corrections));
  });

  test("a batch number is used once, and messages of another size are refused", async () => {
    const shape = { width: 1, limbs: 1 };
    const [receiver, sender] = [new TransferReceiver(pairs), new TransferSender(chosen)];
    const pending = await receiver.begin(5, new Uint8Array(40), shape);
    await expectError(() => receiver.begin(5, new Uint8Array(40), shape), "PROTOCOL_STATE", /used before/);
    const values = new Uint32Array(40);
    await expectError(
      () => sender.multiply(5, values, pending.matrix.subarray(1), shape),
      "PROTOCOL_STATE",
      /a matrix of 3119 bytes; 3120 were/,
    );
    const { corrections } = await sender.multiply(5, values, pending.matrix, shape);
    await expectError(() => sender.multiply(5, values, pending.matrix, shape), "PROTOCOL_STATE", /used before/);
    await expectError(() => pending.finish(corrections.subarray(4)), "PROTOCOL_STATE", /of 156 bytes; 160 were/);
    pending.finish(corrections);
    await expectError(() => pending.finish(corrections), "PROTOCOL_STATE", /received before/);
  });

  test("numbers are used once, in any order within a window, and never from before it", async () => {
    const numbers = new SingleUse();
    const random = new SeededRandom("numbers");
    const order = [...random.permutation(1000)].map((i) => i + 1);
    for (const number of order) numbers.take(number);
    for (const number of order) await expectError(() => numbers.take(number), "PROTOCOL_STATE");
    for (let number = 1001; number < 4000; number++) numbers.take(number);
    for (const number of [0, -1, 1.5, 1, 3999, 2900]) await expectError(() => numbers.take(number), "PROTOCOL_STATE");
  });
});
