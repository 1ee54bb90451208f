import { expect, test } from "vitest";
import { heartbeats } from "./heartbeat.ts";

async function counted(isWorking: () => boolean, everyMs: number, over: Promise<void>): Promise<number> {
  let beats = 0;
  for await (const _ of heartbeats(everyMs, isWorking, over)) beats++;
  return beats;
}

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("heartbeats are sent while there is work, and only then", async () => {
  expect(await counted(() => true, 5, soon(100))).toBeGreaterThan(1);
  expect(await counted(() => false, 5, soon(50))).toBe(0);
});

test("without an interval there are no heartbeats, and the stream still ends", async () => {
  expect(await counted(() => true, 0, soon(20))).toBe(0);
});
