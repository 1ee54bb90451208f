import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FanOutStream } from "./fan-out-stream.ts";
import { inOrder } from "./ordered-work.ts";

async function* numbers(count: number): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) yield i;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("inOrder", () => {
  test("keeps the order, works on several items at a time and never on more", async () => {
    let underWay = 0;
    let most = 0;
    const work = async (item: number): Promise<number> => {
      most = Math.max(most, ++underWay);
      await sleep(item % 3 === 0 ? 4 : 1);
      underWay--;
      return 10 * item;
    };
    expect(await collect(inOrder(numbers(30), 4, work))).toEqual(Array.from({ length: 30 }, (_, i) => 10 * i));
    expect(most).toBe(4);
    expect(await collect(inOrder(numbers(0), 4, work))).toEqual([]);
  });

  test("gives a finished result while the next item is still awaited", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const items = (async function* () {
      yield 1;
      await held;
      yield 2;
    })();
    const results = inOrder(items, 4, async (item) => item);
    expect(await results.next()).toEqual({ done: false, value: 1 });
    release();
    expect(await collect(results)).toEqual([2]);
  });

  test("passes on failures of the source and of the work, and ends the source", async () => {
    let ended = false;
    const source = async function* (): AsyncGenerator<number> {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        ended = true;
      }
    };
    const fails = async (item: number): Promise<number> => {
      if (item === 5) throw new Error("five");
      return item;
    };
    await expect(collect(inOrder(source(), 3, fails))).rejects.toThrow("five");
    await sleep(0);
    expect(ended).toBe(true);
    const broken = (async function* () {
      yield 1;
      throw new Error("cut");
    })();
    await expect(collect(inOrder(broken, 3, fails))).rejects.toThrow("cut");
  });
});

describe("FanOutStream", () => {
  test("gives every reader everything, early or late", async () => {
    const kept = new FanOutStream<number>(3);
    const early = collect(kept.read());
    const filling = kept.fill(numbers(5));
    const meanwhile = collect(kept.read());
    await filling;
    for (const reader of [early, meanwhile, collect(kept.read())]) expect(await reader).toEqual([0, 1, 2, 3, 4]);
  });

  test("a failure reaches every reader after the items before it", async () => {
    const kept = new FanOutStream<number>(2);
    await kept.fill(
      (async function* () {
        yield 7;
        throw new Error("cut");
      })(),
    );
    const reader = kept.read();
    expect((await reader.next()).value).toBe(7);
    await expect(reader.next()).rejects.toThrow("cut");
    await expect(collect(kept.read())).rejects.toThrow("cut");
  });

  test("keeps no more than the slowest reader is behind, and produces no further ahead of it", async () => {
    const kept = new FanOutStream<number>(2, 4);
    let produced = 0;
    const filling = kept.fill(
      (async function* () {
        for (; produced < 100; produced++) yield produced;
      })(),
    );
    const quick = collect(kept.read());
    const slow = kept.read();
    for (let i = 0; i < 100; i++) {
      expect((await slow.next()).value).toBe(i);
      await new Promise((resolve) => setImmediate(resolve));
      expect(produced).toBeLessThanOrEqual(i + 5);
      expect(kept.keptCount).toBeLessThanOrEqual(4);
    }
    await filling;
    expect(await quick).toHaveLength(100);
    expect((await slow.next()).done).toBe(true);
    expect(kept.keptCount).toBe(0);
  });
});
