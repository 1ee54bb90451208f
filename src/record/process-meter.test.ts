import { expect, test } from "vitest";
import { ProcessMeter } from "./process-meter.ts";

test("peak memory is this program's own", () => {
  const meter = new ProcessMeter();
  meter.start();
  const { rss } = process.memoryUsage();
  const held = Buffer.alloc(64 << 20, 1);
  meter.stop();
  const { peakRssBytes, cpuSeconds } = meter.use;
  expect(cpuSeconds).toBeGreaterThan(0);
  expect(peakRssBytes).toBeGreaterThan(rss + held.length / 2);
  // What the starting process had counts there too.
  expect(peakRssBytes).toBeLessThanOrEqual(1024 * process.resourceUsage().maxRSS);
});
