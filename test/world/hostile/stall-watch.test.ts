import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { outcomeUnlessStalled, watchForStall } from "./stall-watch.ts";

const never = (): Promise<never> => new Promise(() => {});
const codeOf = (error: unknown): string => String(error);

test("work that never ends is a hang, and work that ends is not", async () => {
  expect(await outcomeUnlessStalled(watchForStall([], 200), never, codeOf)).toBe("hang");
  expect(await outcomeUnlessStalled(watchForStall([]), async () => {}, codeOf)).toBe("finished");
  expect(await outcomeUnlessStalled(watchForStall([]), () => Promise.reject(new Error("x")), codeOf)).toBe("Error: x");
});

test("a process that computes for ever is a hang", async () => {
  const busy = spawn(process.execPath, ["-e", "for (;;);"]);
  const watch = watchForStall([busy.pid ?? 0], 400);
  expect(await outcomeUnlessStalled(watch, never, codeOf)).toBe("hang");
  busy.kill("SIGKILL");
  await once(busy, "close");
});

test("what moves again and again does not stall", async () => {
  const watch = watchForStall([], 1000);
  for (const started = performance.now(); performance.now() - started < 1500;) {
    watch.moved();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(watch.signal.aborted).toBe(false);
  watch.end();
});
