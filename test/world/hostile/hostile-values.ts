/**
 * What a hostile party writes into one field: values at the edges of what the wire can say, and near what was there.
 * Everything is drawn from a seed.
 */
import { ScalarType } from "@bufbuild/protobuf";
import type { SeededRandom } from "../../../src/base/random.ts";
import { messageBytesMax } from "../../../src/wire/version.ts";

/** Stands at the start of a line only if a party writes a peer's text into its log as it came. */
export const forgedLine = '{"level":"forged","event":"canary"}';

export function pick<T>(random: SeededRandom, items: readonly T[]): T {
  return items[random.below(items.length)];
}

const texts = [
  "",
  `name\n${forgedLine}\n`,
  "../../../tmp/escape",
  "a/b",
  ".",
  "con\u0000trol\u001b[2J",
  "\u202egnp.txt \u{1f4a3} \u{10ffff}",
  "%s%n{}$()`id`",
  "__proto__",
  "constructor",
  "x".repeat(64 << 10),
];

function hostileText(random: SeededRandom, before: string): string {
  const change = random.below(4);
  if (change === 0 || before === "") return pick(random, texts);
  const place = random.below(before.length);
  if (change === 1) return before.slice(0, place) + before.slice(place + 1);
  if (change === 2) return `${before.slice(0, place)}${pick(random, ["A", "é", "\n", " "])}${before.slice(place)}`;
  return before + before;
}

/** @param lengthMax of what is made larger */
export function hostileBytes(random: SeededRandom, before: Uint8Array, lengthMax = 1 << 16): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(before);
  const noise = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length }, () => random.below(256));
  const change = random.below(bytes.length === 0 ? 3 : 10);
  if (change === 0) return noise(1 + random.below(64));
  if (change === 1) return new Uint8Array(random.below(20) === 0 ? lengthMax : 1 + random.below(300));
  if (change === 2) return noise(bytes.length + 1);
  if (change === 3) return new Uint8Array(0);
  if (change === 4) return bytes.slice(0, bytes.length - 1);
  if (change === 5) return Uint8Array.from([...bytes.subarray(0, 4096), 0]);
  if (change === 6) return bytes.fill(pick(random, [0, 255]));
  if (change === 7) return bytes.reverse();
  if (change === 8) return noise(bytes.length);
  bytes[random.below(bytes.length)] ^= 1 << random.below(8);
  return bytes;
}

const largest = 0xffff_ffff;

function hostileWhole(random: SeededRandom, before: number, min: number, max: number): number {
  const edges = [0, 1, 2, before + 1, before - 1, 2 * before, 2 ** 31 - 1, 2 ** 31, max, min, random.uint32()];
  const value = pick(random, edges);
  return value >= min && value <= max ? value : max;
}

function hostileReal(random: SeededRandom, before: number): number {
  return pick(random, [0, -0, -1, 1, 2, before / 2, before + 1e-9, 1e308, 5e-324, Number.NaN, Infinity, -Infinity]);
}

/** Another value of the same type; it may be the same by chance. */
export function hostileScalar(random: SeededRandom, type: ScalarType, before: unknown): unknown {
  switch (type) {
    case ScalarType.STRING:
      return hostileText(random, before as string);
    case ScalarType.BYTES:
      return hostileBytes(random, before as Uint8Array, random.below(50) === 0 ? messageBytesMax + 1 : 1 << 16);
    case ScalarType.BOOL:
      return before !== true;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return hostileReal(random, before as number);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return hostileWhole(random, before as number, -(2 ** 31), 2 ** 31 - 1);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return hostileWhole(random, before as number, 0, largest);
    default:
      return pick(random, [0n, 1n, 2n ** 63n - 1n, BigInt(random.uint32())]);
  }
}
