import { expect, test } from "vitest";
import { type MemoryUse, WorkerMemory } from "./worker-memory.ts";

const megabyte = 2 ** 20;

function memoryOf(
  bytesMax: number | undefined,
  first: MemoryUse,
): { memory: WorkerMemory; use: (now: MemoryUse) => void } {
  let now = first;
  return { memory: new WorkerMemory(bytesMax, () => now), use: (next) => (now = next) };
}

test("what is reserved counts before anything is written into it", () => {
  const { memory, use } = memoryOf(1000 * megabyte, { rss: 100 * megabyte, external: 5 * megabyte });
  expect(memory.hasRoom(0)).toBe(true);
  use({ rss: 110 * megabyte, external: 405 * megabyte });
  expect(memory.hasRoom(1)).toBe(true); // 500, and 400 for the next
  use({ rss: 120 * megabyte, external: 805 * megabyte });
  expect(memory.hasRoom(2)).toBe(false); // 900, and 400
});

test("so does what the system counts", () => {
  const { memory, use } = memoryOf(1000 * megabyte, { rss: 100 * megabyte, external: 0 });
  use({ rss: 600 * megabyte, external: 0 });
  expect(memory.hasRoom(1)).toBe(false);
  expect(memory.hasRoom(2)).toBe(true);
  use({ rss: 1001 * megabyte, external: 0 });
  expect(memory.hasRoom(0)).toBe(false);
});

test("without a bound there is always room", () => {
  const { memory, use } = memoryOf(undefined, { rss: 0, external: 0 });
  use({ rss: 1e15, external: 1e15 });
  expect(memory.hasRoom(1)).toBe(true);
});
