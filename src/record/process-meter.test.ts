import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { ProcessMeter } from "./process-meter.ts";

const scratch = scratchDirectory();

test("CPU time and peak memory cover what was used since the start", () => {
  const meter = new ProcessMeter();
  meter.start();
  const held = Buffer.alloc(64 << 20, 1);
  const { rss } = process.memoryUsage();
  meter.stop();
  const { peakRssBytes, cpuSeconds } = meter.use;
  expect(cpuSeconds).toBeGreaterThan(0);
  expect(held.at(-1)).toBe(1);
  // Neither is read in the same moment, and the system counts pages per core.
  expect(peakRssBytes).toBeGreaterThan(0.9 * rss);
});

test("peak memory is this program's own, not that of the process that started it", async () => {
  const file = join(scratch, "child.mjs");
  const build = await rolldown({
    input: "child",
    platform: "node",
    plugins: [
      { name: "child", resolveId: (id) => (id === "child" ? id : null), load: (id) => (id === "child" ? child : null) },
    ],
  });
  await build.write({ file, format: "esm" });
  await build.close();
  const held = Buffer.alloc(192 << 20, 1);
  const peak = Number(execFileSync(process.execPath, [file], { encoding: "utf8" }));
  expect(peak).toBeGreaterThan(10 << 20);
  expect(peak).toBeLessThan(held.length);
});

const child = `
  import { ProcessMeter } from ${JSON.stringify(join(import.meta.dirname, "process-meter.ts"))};
  const meter = new ProcessMeter();
  meter.start();
  meter.stop();
  console.log(meter.use.peakRssBytes);
`;
