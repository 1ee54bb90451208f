import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { CallWatch } from "./call-watch.ts";

/** A watch with a clock that the test controls. */
function watched({ stallMs = 100_000, callMs = 1_000_000 } = {}) {
  let nowMs = 0;
  let alarms: { atMs: number; ring: () => void }[] = [];
  const words: string[] = [];
  const givenUp: number[] = [];
  const watch = new CallWatch({
    party: "shop",
    stallMs,
    callMs,
    now: () => nowMs,
    alarm: (ms, ring) => {
      const alarm = { atMs: nowMs + ms, ring };
      alarms.push(alarm);
      return () => (alarms = alarms.filter((other) => other !== alarm));
    },
    onSlow: (waitedMs, isWorking) => words.push(`${waitedMs / 1000} ${isWorking ? "working" : "silent"}`),
    onGivenUp: (waitedMs) => givenUp.push(waitedMs),
  });
  /** Advances the clock, and calls `each` every second. */
  const pass = (seconds: number, each: () => void = () => {}): void => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1000;
      each();
      const due = alarms.filter(({ atMs }) => atMs <= nowMs);
      alarms = alarms.filter(({ atMs }) => atMs > nowMs);
      for (const { ring } of due) ring();
    }
  };
  return { watch, pass, words, givenUp, alarmCount: () => alarms.length };
}

const never = new Promise<never>(() => {});

test("silence is reported at growing intervals, and then all calls fail", async () => {
  const { watch, pass, words, givenUp } = watched();
  const calls = [watch.call()(never), watch.call()(never)];
  pass(100);
  for (const call of calls)
    await expectError(() => call, "PARTY_LOST", /^party shop has not answered for 100 s, nor said that it works$/);
  expect(words.slice(0, 6)).toEqual(["10 silent", "10 silent", "30 silent", "30 silent", "90 silent", "90 silent"]);
  expect(givenUp).toEqual([100_000]);
});

test("heartbeats keep a call until callMs, and are reported at growing intervals", async () => {
  const { watch, pass, words } = watched();
  const call = watch.call()(never);
  pass(1000, () => watch.beat());
  await expectError(
    () => call,
    "PARTY_LOST",
    /says that it works, and has not answered a call for 1000 s; call_seconds/,
  );
  expect(words).toEqual(["10 working", "30 working", "90 working", "270 working", "810 working"]);
});

test("messages that the party reads reset the clocks", () => {
  const { watch, pass, words, givenUp } = watched({ callMs: 200_000 });
  void watch.call()(never);
  pass(1000, () => watch.taken());
  expect([words, givenUp]).toEqual([[], []]);
});

test("the messages of a stream share one time limit; the time between them does not count", async () => {
  const { watch, pass, givenUp } = watched({ callMs: 150_000 });
  const wait = watch.call();
  for (let piece = 0; piece < 2; piece++) {
    let come = (): void => {};
    const waiting = wait(new Promise<void>((resolve) => (come = resolve)));
    pass(60);
    come();
    await waiting;
    pass(500);
  }
  expect(givenUp).toEqual([]);
  const last = wait(never);
  pass(30);
  await expectError(() => last, "PARTY_LOST", /for 150 s/);
});

test("many short calls need one timer, and none after the last", async () => {
  const { watch, pass, alarmCount } = watched();
  for (let call = 0; call < 100; call++) await watch.call()(Promise.resolve(call));
  expect(alarmCount()).toBe(1);
  pass(2);
  expect(alarmCount()).toBe(0);
});

test("a call that fails keeps its own error, and nothing is reported after the end", async () => {
  const { watch, pass, words, givenUp } = watched();
  await expect(watch.call()(Promise.reject(new Error("its own")))).rejects.toThrow("its own");
  void watch.call()(never);
  watch.close();
  pass(1000);
  expect([words, givenUp]).toEqual([[], []]);
});
