import { expect, test } from "vitest";
import { BusyClock } from "./busy-clock.ts";

function manual(): {
  clock: BusyClock;
  at: (ms: number) => void;
  work: () => { done: Promise<void>; end: () => void; fail: () => void };
} {
  let time = 0;
  const clock = new BusyClock(() => time);
  return {
    clock,
    at: (ms) => (time = ms),
    work: () => {
      const { promise, resolve, reject } = withResolvers();
      return { done: clock.during(() => promise), end: resolve, fail: () => reject(new Error("work failed")) };
    },
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve = (): void => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

test("overlapping work counts once, pauses do not count, failed work counts", async () => {
  const { clock, at, work } = manual();
  const first = work();
  at(10);
  const second = work();
  at(15);
  expect(clock.totalMs).toBe(15);
  first.end();
  await first.done;
  at(20);
  second.end();
  await second.done;
  at(100);
  expect(clock.totalMs).toBe(20);
  const third = work();
  at(107);
  third.fail();
  await expect(third.done).rejects.toThrow("work failed");
  at(500);
  expect(clock.totalMs).toBe(27);
});
