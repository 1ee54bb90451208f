import { expect, test } from "vitest";
import { workedAhead } from "./worked-ahead.ts";

const turns = async (count = 5): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

async function* numbers(count: number): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) yield i;
}

test("results are in the order of the items, and a limited number is worked on", async () => {
  let [open, most] = [0, 0];
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++open);
    await turns(item % 3 === 0 ? 5 : 1);
    return item * 2;
  };
  const results: number[] = [];
  for await (const result of workedAhead(numbers(20), work, 4)) {
    open--;
    results.push(result);
  }
  expect(results).toEqual(Array.from({ length: 20 }, (_, i) => i * 2));
  expect(most).toBe(4);
});

test("no work is begun ahead of a reader that does not read", async () => {
  let begun = 0;
  const ahead = workedAhead(numbers(100), async () => ++begun, 3);
  await ahead.next();
  await turns(20);
  expect(begun).toBeLessThan(6);
  await ahead.return(undefined);
  await turns();
  expect(begun).toBeLessThan(6);
});

test("an error of the work or of the source is thrown in its place", async () => {
  const seen: number[] = [];
  const refuse = async (item: number): Promise<number> => {
    if (item === 2) throw new Error("two");
    return item;
  };
  const read = async (): Promise<void> => {
    for await (const result of workedAhead(numbers(5), refuse, 3)) seen.push(result);
  };
  await expect(read()).rejects.toThrow("two");
  expect(seen).toEqual([0, 1]);
  async function* broken(): AsyncGenerator<number> {
    yield 1;
    throw new Error("source");
  }
  const all = workedAhead(broken(), async (item) => item, 3);
  expect(await all.next()).toEqual({ value: 1, done: false });
  await expect(all.next()).rejects.toThrow("source");
});
