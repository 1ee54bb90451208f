import { expect, test } from "vitest";
import { ReusedBuffers } from "./reused-buffers.ts";

test("a buffer is used again when its last reader has released it", () => {
  const buffers = new ReusedBuffers();
  const first = buffers.take(1000, 2);
  buffers.release(first);
  expect(buffers.has(first)).toBe(true);
  expect(buffers.take(1000)).not.toBe(first);
  buffers.release(first);
  expect(buffers.has(first)).toBe(false);
  expect(buffers.take(1001)).not.toBe(first);
  expect(buffers.take(1000)).toBe(first);
});

test("a release too many, and one of another buffer, have no effect", () => {
  const buffers = new ReusedBuffers();
  const own = buffers.take(64);
  buffers.release(own);
  buffers.release(own);
  buffers.release(new ArrayBuffer(64));
  expect(buffers.take(64)).toBe(own);
  expect(buffers.take(64)).not.toBe(own);
});

test("no more than some megabytes are kept", () => {
  const buffers = new ReusedBuffers();
  const taken = Array.from({ length: 40 }, () => buffers.take(1 << 20));
  for (const buffer of taken) buffers.release(buffer);
  const again = Array.from({ length: 40 }, () => buffers.take(1 << 20));
  expect(again.filter((buffer) => taken.includes(buffer))).toHaveLength(32);
});
