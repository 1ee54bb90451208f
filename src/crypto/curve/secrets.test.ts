/** Secrets follow from everything that they encrypt or mask, and from nothing else. */
import { expect, test } from "vitest";
import { maskScalars, roundScalars, roundSecret, rowScalars, rowSeed, rowsPerStream } from "./secrets.ts";

const seed = new Uint8Array(32).fill(7);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("the same round has the same secret, any other round another", () => {
  const rows = Uint32Array.of(0, 2);
  const plaintexts = Int32Array.of(1, 2, 3, 4);
  const secret = hex(roundSecret(seed, 5, rows, plaintexts));
  expect(hex(roundSecret(seed, 5, rows.slice(), plaintexts.slice()))).toBe(secret);
  const others = [
    roundSecret(new Uint8Array(32).fill(8), 5, rows, plaintexts),
    roundSecret(seed, 6, rows, plaintexts),
    roundSecret(seed, 5, Uint32Array.of(0, 1), plaintexts),
    roundSecret(seed, 5, rows, Int32Array.of(1, 2, 3, 5)),
    roundSecret(seed, 5, Uint32Array.of(0, 2, 1), Int32Array.of(2, 3, 4)),
  ];
  expect(new Set([secret, ...others.map(hex)]).size).toBe(1 + others.length);
});

test("secrets of two values, and of two rows, differ", () => {
  const both = roundScalars(roundSecret(seed, 0, Uint32Array.of(0), Int32Array.of(0)), 2);
  expect(hex(both.subarray(0, 64))).not.toBe(hex(both.subarray(64)));
  const wide = rowScalars(rowSeed(seed), rowsPerStream + 2);
  const all = Array.from({ length: rowsPerStream + 2 }, (_, i) => hex(wide.subarray(64 * i, 64 * (i + 1))));
  expect(new Set(all).size).toBe(all.length);
});

test("a prefix of the rows has the same secrets, whatever the number of rows", () => {
  const few = rowScalars(rowSeed(seed), 10);
  expect(hex(rowScalars(rowSeed(seed), rowsPerStream + 10)).startsWith(hex(few))).toBe(true);
});

test("masks follow from the question", () => {
  const question = new Uint8Array(32);
  const masks = maskScalars(seed, question, 3);
  expect(hex(maskScalars(seed, question, 3))).toBe(hex(masks));
  expect(hex(maskScalars(seed, Uint8Array.from(question).fill(1, 31), 3))).not.toBe(hex(masks));
  expect(hex(masks.subarray(0, 64))).not.toBe(hex(masks.subarray(64, 128)));
});
