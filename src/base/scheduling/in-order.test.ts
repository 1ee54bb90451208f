import { expect, test } from "vitest";
import { collect } from "../../../test/support/streams.ts";
import { inOrder } from "./in-order.ts";

test("results are in order, and only a limited number is started ahead", async () => {
  let [underWay, most] = [0, 0];
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++underWay);
    for (let i = 0; i < 6 - item; i++) await Promise.resolve();
    underWay--;
    return item;
  };
  expect(await collect(inOrder([0, 1, 2, 3, 4, 5], 3, work))).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(3);
  most = 0;
  expect(await collect(inOrder([0, 1, 2], 1, work))).toEqual([0, 1, 2]);
  expect(most, "as without it").toBe(1);
});

test("a failure is thrown in order, and later failures are ignored", async () => {
  const work = async (item: number): Promise<number> => {
    if (item > 0) throw new Error(`no ${item}`);
    return item;
  };
  const row = inOrder([0, 1, 2, 3], 4, work);
  expect((await row.next()).value).toBe(0);
  await expect(row.next()).rejects.toThrow("no 1");
});
