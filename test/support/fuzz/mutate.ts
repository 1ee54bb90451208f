/**
 * Seeded mutations of bytes: the same seed makes the same mutant. What files are made of is respected now and then:
 * numbers in their usual widths, varints as in protobuf and Thrift, tokens of text.
 */
import type { SeededRandom } from "../../../src/base/random.ts";

/** More would only take longer. */
export const mutantBytesMax = 1 << 20;

const edges = [0n, 1n, 2n, 127n, 128n, 255n, 256n, 32767n, 65535n, 65536n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n];
const largeEdges = [...edges, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];

export const oddTexts = [
  "",
  "-1",
  "-0",
  "0.1",
  "1e999",
  "-1e999",
  "1e-999",
  "9007199254740993",
  "99999999999999999999",
  "2147483648",
  "NaN",
  "null",
  "true",
  "__proto__",
  "constructor",
  '"',
  "'",
  "\\",
  "\0",
  "\uFEFF",
  "\r",
  "\n",
  "\t",
  ",",
  ";",
  "{",
  "}",
  "[",
  "]",
  ":",
  "&a",
  "*a",
  "<<",
  "- ",
  "\u2028",
  "\uD800",
  "ß".repeat(50),
  "[".repeat(200),
  '{"a":'.repeat(200),
  "x".repeat(5000),
];

type Mutation = (bytes: Buffer, random: SeededRandom, others: readonly Uint8Array[]) => Buffer;

/** A place, and one more for the end. */
const placeIn = (bytes: Buffer, random: SeededRandom): number => random.below(bytes.length + 1);
export const oneOf = <T>(list: readonly T[], random: SeededRandom): T => list[random.below(list.length)];

function replaced(bytes: Buffer, at: number, removed: number, inserted: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
}

function varint(value: bigint): Uint8Array {
  const out: number[] = [];
  let left = value;
  do {
    out.push(Number(left & 127n) | (left > 127n ? 128 : 0));
    left >>= 7n;
  } while (left > 0n);
  return Uint8Array.from(out);
}

function fixed(value: bigint, sizeBytes: number, isLittle: boolean): Uint8Array {
  const out = Uint8Array.from({ length: sizeBytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
  return isLittle ? out : out.reverse();
}

const mutations: readonly Mutation[] = [
  function flipBit(bytes, random) {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[random.below(copy.length)] ^= 1 << random.below(8);
    return copy;
  },
  function setByte(bytes, random) {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[random.below(copy.length)] = oneOf([0, 1, 0x7f, 0x80, 0xff, random.below(256)], random);
    return copy;
  },
  (bytes, random) => bytes.subarray(0, placeIn(bytes, random)),
  (bytes, random) => bytes.subarray(placeIn(bytes, random)),
  (bytes, random) =>
    replaced(bytes, placeIn(bytes, random), random.below(1 + Math.min(bytes.length, 64)), Buffer.alloc(0)),
  function insertNoise(bytes, random) {
    const noise = Uint8Array.from({ length: 1 + random.below(16) }, () => random.below(256));
    return replaced(bytes, placeIn(bytes, random), 0, noise);
  },
  function repeatBlock(bytes, random) {
    const at = placeIn(bytes, random);
    const block = bytes.subarray(at, at + 1 + random.below(64));
    const times = oneOf([2, 3, 16, 300, 20_000], random);
    if (block.length * times > mutantBytesMax) return bytes;
    return replaced(bytes, at, 0, Buffer.concat(Array.from({ length: times }, () => block)));
  },
  function splice(bytes, random, others) {
    const other = Buffer.from(oneOf(others, random));
    return Buffer.concat([bytes.subarray(0, placeIn(bytes, random)), other.subarray(placeIn(other, random))]);
  },
  function moveBlock(bytes, random) {
    const [from, to] = [placeIn(bytes, random), placeIn(bytes, random)];
    return replaced(bytes, to, 0, bytes.subarray(from, from + random.below(128)));
  },
  function fixedNumber(bytes, random) {
    const sizeBytes = oneOf([2, 4, 8], random);
    return replaced(
      bytes,
      placeIn(bytes, random),
      sizeBytes,
      fixed(oneOf(largeEdges, random), sizeBytes, random.below(2) === 0),
    );
  },
  /** In the place of what may be one: it ends with the first byte without its highest bit. */
  function varintNumber(bytes, random) {
    const at = placeIn(bytes, random);
    let end = at;
    while (end < bytes.length && bytes[end] > 127) end++;
    return replaced(bytes, at, end - at + 1, varint(oneOf(largeEdges, random)));
  },
  (bytes, random) => replaced(bytes, placeIn(bytes, random), random.below(4), Buffer.from(oneOf(oddTexts, random))),
  /** A number or a word of text becomes another. */
  function token(bytes, random) {
    const text = bytes.toString("latin1");
    const tokens = [...text.matchAll(/-?\d+(\.\d+)?|[A-Za-z_]+/g)];
    if (tokens.length === 0) return bytes;
    const found = oneOf(tokens, random);
    return replaced(bytes, found.index, found[0].length, Buffer.from(oneOf(oddTexts, random)));
  },
  function swapLines(bytes, random) {
    const lines = bytes.toString("latin1").split("\n");
    const [a, b] = [random.below(lines.length), random.below(lines.length)];
    [lines[a], lines[b]] = [lines[b], lines[a]];
    if (random.below(2) === 0) lines.splice(a, 0, lines[b]);
    return Buffer.from(lines.join("\n"), "latin1");
  },
];

/** A mutation of one of the valid files; sometimes up to four: what several do together is mostly refused at once. */
export function mutated(corpus: readonly Uint8Array[], random: SeededRandom): Uint8Array {
  let bytes = Buffer.from(oneOf(corpus, random));
  for (let left = random.below(3) > 0 ? 1 : 1 + random.below(4); left > 0; left--)
    bytes = Buffer.from(oneOf(mutations, random)(bytes, random, corpus));
  return bytes.subarray(0, mutantBytesMax);
}
