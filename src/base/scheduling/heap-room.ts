/**
 * How much garbage a party's heap may hold before it is collected.
 *
 * V8 collects when a heap has grown by a share of what lives in it, buffers included. Little lives in a party, and its
 * messages are large: it would collect after every tree, which can take longer than the tree. So a small heap may grow
 * by a fixed amount instead; a large one is left to V8.
 */
import { setFlagsFromString } from "node:v8";

/** What may wait to be collected. */
const garbageBytes = 160 << 20;
const growthMax = 400;
/** Below this V8's own choice is no worse; 0 stands for it. */
const growthMin = 40;
const lookEveryMs = 1000;

/** In percent of what lives. */
export function heapGrowth(livingBytes: number): number {
  const percent = Math.min(growthMax, Math.floor((100 * garbageBytes) / Math.max(1, livingBytes)));
  return percent < growthMin ? 0 : percent;
}

/** From now on, as long as this process lives. */
export function keepHeapRoom(): void {
  let before = -1;
  const look = (): void => {
    const { heapUsed, external } = process.memoryUsage();
    // What lives is not known between collections: garbage is counted too, which errs on the side of less room.
    const growth = heapGrowth(heapUsed + external - garbageBytes / 2);
    if (growth === before) return;
    before = growth;
    setFlagsFromString(`--heap-growing-percent=${growth}`);
  };
  look();
  setInterval(look, lookEveryMs).unref();
}
