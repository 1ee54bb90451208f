/**
 * How much garbage a party's heap may hold before it is collected.
 *
 * V8 collects garbage when a heap has grown by a fraction of its live size, buffers included. A party has a small live
 * size and large messages: it would collect after every tree, which can take longer than the tree. So a small heap may
 * grow by a fixed amount instead; a large one is left to V8.
 */
import { setFlagsFromString } from "node:v8";

/** Allowed garbage. */
const garbageBytes = 160 << 20;
const growthMax = 400;
/** Below this V8's default is no worse; 0 stands for the default. */
const growthMin = 40;
const lookEveryMs = 1000;

/** In percent of the live size. */
export function heapGrowth(livingBytes: number): number {
  const percent = Math.min(growthMax, Math.floor((100 * garbageBytes) / Math.max(1, livingBytes)));
  return percent < growthMin ? 0 : percent;
}

/** For the rest of the process. */
export function keepHeapRoom(): void {
  // Compiled code that is kept for the next run is valid for the flags that V8 has then.
  process.prependOnceListener("exit", () => setFlagsFromString("--heap-growing-percent=0"));
  let before = -1;
  const look = (): void => {
    const { heapUsed, external } = process.memoryUsage();
    // The live size is unknown between collections: garbage is included, which errs on the side of less room.
    const growth = heapGrowth(heapUsed + external - garbageBytes / 2);
    if (growth === before) return;
    before = growth;
    setFlagsFromString(`--heap-growing-percent=${growth}`);
  };
  look();
  setInterval(look, lookEveryMs).unref();
}
