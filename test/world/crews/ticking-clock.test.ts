import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TickingClock } from "./ticking-clock.ts";

test("time passes with the turns of the loop, and not during a computation, whether it fails or not", async () => {
  const clock = new TickingClock(10);
  const rung: number[] = [];
  for (const ms of [10, 20, 30]) clock.after(ms, () => rung.push(ms));
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await turn();
  };
  let end = (): void => {};
  const first = clock.during(new Promise<void>((resolve) => (end = resolve)));
  let fail = (): void => {};
  const second = clock.during(new Promise<void>((_, reject) => (fail = () => reject(new Error("the second")))));
  await turns();
  expect([clock.now(), rung]).toEqual([0, []]);
  end();
  await first;
  await turns();
  expect(clock.now()).toBe(0);
  fail();
  await expect(second).rejects.toThrow("the second");
  await turns();
  expect([clock.now(), rung]).toEqual([30, [10, 20, 30]]);
});
