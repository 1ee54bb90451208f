import { expect, test } from "vitest";
import { SeededRandom } from "../base/random.ts";
import { SeenCiphertexts } from "./seen-ciphertexts.ts";

const random = new SeededRandom("seen ciphertexts");
const some = (count: number, sizeBytes: number): Uint8Array =>
  Uint8Array.from({ length: count * sizeBytes }, () => random.below(256));

function isRepeated(sizeBytes: number, ...chunks: readonly Uint8Array[]): boolean {
  const seen = new SeenCiphertexts(chunks.reduce((sum, chunk) => sum + chunk.length, 0) / sizeBytes);
  for (const chunk of chunks) seen.add(chunk, sizeBytes);
  return seen.hasRepeats();
}

test.each([32, 33, 48, 512])(
  "%d bytes: a duplicate in one chunk or across chunks is found; different ciphertexts are not",
  (size) => {
    const chunks = [some(50, size), some(1, size), some(30, size)];
    expect(isRepeated(size, ...chunks)).toBe(false);
    for (const at of [0, 17, 49]) {
      const again = chunks[0].slice(at * size, (at + 1) * size);
      expect(isRepeated(size, ...chunks, again)).toBe(true);
      expect(isRepeated(size, Buffer.concat([...chunks, again]))).toBe(true);
    }
  },
);

test("ciphertexts that agree in one word only are different", () => {
  const size = 64;
  const bytes = some(200, size);
  for (let i = 0; i < 200; i++) bytes.fill(7, i * size + 24, i * size + 32);
  expect(isRepeated(size, bytes)).toBe(false);
  bytes.copyWithin(150 * size, 3 * size, 4 * size);
  expect(isRepeated(size, bytes)).toBe(true);
});

test("bytes that are not word-aligned and do not start at the beginning of their buffer", () => {
  const whole = some(3, 33);
  const inside = new Uint8Array([1, 2, 3, ...whole, 9]).subarray(3, 3 + whole.length);
  expect(isRepeated(33, inside)).toBe(false);
  inside.copyWithin(66, 0, 33);
  expect(isRepeated(33, inside)).toBe(true);
});
