import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { watchRejections } from "../../../test/support/expect-error.ts";
import { Broadcast } from "./broadcast.ts";

/** Counts the produced items; pauses where the test says. */
class Source {
  produced = 0;
  readonly #count: number;
  readonly #failsAt: number;

  constructor(count: number, failsAt = Infinity) {
    this.#count = count;
    this.#failsAt = failsAt;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    while (this.produced < this.#count) {
      if (this.produced >= this.#failsAt) throw new Error("the source broke");
      await Promise.resolve();
      yield this.produced++;
    }
  }
}

async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function read(
  reader: AsyncIterable<number>,
  ticksPerItem: (item: number) => number,
  onItem: (item: number) => (() => void) | void = () => {},
): Promise<number[]> {
  const items: number[] = [];
  for await (const item of reader) {
    const onPassed = onItem(item);
    items.push(item);
    await ticks(ticksPerItem(item));
    onPassed?.();
  }
  return items;
}

describe("all readers", () => {
  test("see all items in order, at any speeds; the source is never more than the window ahead", async () => {
    const speed = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(speed, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat({ max: 12 }),
        async (speeds, window, count) => {
          const source = new Source(count);
          const broadcast = new Broadcast(source, window);
          const passed = speeds.map(() => 0);
          const readers = speeds.map(() => broadcast.reader());
          const all = await Promise.all(
            readers.map((reader, i) =>
              read(
                reader,
                (item) => speeds[i][item % speeds[i].length],
                (item) => {
                  expect(source.produced - Math.min(...passed)).toBeLessThanOrEqual(window);
                  return () => (passed[i] = item + 1);
                },
              ),
            ),
          );
          for (const items of all) expect(items).toEqual(Array.from({ length: count }, (_, i) => i));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("fail when the source fails, after what came before", async () => {
    const rejections = watchRejections();
    const broadcast = new Broadcast(new Source(9, 3), 2);
    const seen: number[][] = [[], []];
    const readers = [broadcast.reader(), broadcast.reader()];
    const outcomes = await Promise.allSettled(
      readers.map((reader, i) =>
        read(
          reader,
          () => i,
          (item) => void seen[i].push(item),
        ),
      ),
    );
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: new Error("the source broke") });
    expect(seen[0].slice(0, 2)).toEqual([0, 1]);
    await rejections.expectNone();
  });
});

test("a reader that does not read stops the source at the window, until it leaves", async () => {
  const source = new Source(50);
  const broadcast = new Broadcast(source, 4);
  const [fast, slow] = [broadcast.reader(), broadcast.reader()];
  const held = slow[Symbol.asyncIterator]();
  const reading = read(fast, () => 0);
  await held.next();
  await ticks(30);
  expect(source.produced).toBe(4);
  await held.next();
  await ticks(30);
  expect(source.produced).toBe(5);
  await held.return?.();
  expect((await reading).length).toBe(50);
});

test("when every reader has left, the source is asked for nothing more", async () => {
  const source = new Source(50);
  const broadcast = new Broadcast(source, 3);
  const iterators = [broadcast.reader(), broadcast.reader()].map((reader) => reader[Symbol.asyncIterator]());
  await Promise.all(iterators.map((iterator) => iterator.next()));
  for (const iterator of iterators) await iterator.return?.();
  await ticks(10);
  expect(source.produced).toBeLessThanOrEqual(3);
});

describe("ahead of its readers", () => {
  test("a source makes as much as fits the window, and every reader sees all of it", async () => {
    const source = new Source(9);
    const broadcast = new Broadcast(source, 3).ahead();
    await ticks(5);
    expect(source.produced).toBe(3);
    const readers = [broadcast.reader(), broadcast.reader()];
    await ticks(5);
    expect(source.produced).toBe(3);
    const all = await Promise.all(readers.map((reader, i) => read(reader, () => i)));
    expect(all).toEqual(Array(2).fill([0, 1, 2, 3, 4, 5, 6, 7, 8]));
  });

  test("the error of a failed source reaches every reader, and causes no unhandled rejection", async () => {
    const rejections = watchRejections();
    const broadcast = new Broadcast(new Source(9, 1), 3).ahead();
    await ticks(5);
    await expect(read(broadcast.reader(), () => 0)).rejects.toThrow("the source broke");
    await rejections.expectNone();
  });
});
