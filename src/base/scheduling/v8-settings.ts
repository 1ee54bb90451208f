/**
 * Settings of V8 for the processes of a job: `tandem train`, `party` and `worker`.
 *
 * **Garbage.** V8 collects garbage when a heap has grown by a fraction of its live size, buffers included. A party has
 * a small live size and large messages: it would collect after every tree, which can take longer than the tree. So a
 * small heap may grow by a fixed amount instead; a large one is left to V8.
 *
 * **Optimising.** A job runs thousands of functions a few times per message. In a short one V8's optimising compiler
 * took a fifth of all CPU time, most of it for functions that gained nothing. So a function must run longer before it
 * is optimised: that takes 9% less CPU for ten trees, and for fifty.
 */
import { setFlagsFromString } from "node:v8";

/** Allowed garbage. */
const garbageBytes = 160 << 20;
const growthMax = 400;
/** Below this V8's default is no worse; 0 stands for the default. */
const growthMin = 40;
const lookEveryMs = 1000;

/** Bytes of bytecode that a function runs before V8 considers optimising it. */
const optimisingBudget = 500_000;
const defaultBudget = 67_584;
/** The V8 of Node 20. Later ones have no such flag, and a cheaper compiler before the optimising one. */
const hasBudget = process.versions.v8.startsWith("11.");

/** For the rest of the process. Call it after the program's chunks are loaded: flags belong to their compiled code. */
export function setUpV8(): void {
  // Compiled code that is kept for the next run is valid for the flags that V8 has then.
  process.prependOnceListener("exit", () => {
    setFlagsFromString("--heap-growing-percent=0");
    if (hasBudget) setFlagsFromString(`--interrupt-budget=${defaultBudget}`);
  });
  if (hasBudget) setFlagsFromString(`--interrupt-budget=${optimisingBudget}`);
  keepHeapRoom();
}

/** In percent of the live size. */
export function heapGrowth(livingBytes: number): number {
  const percent = Math.min(growthMax, Math.floor((100 * garbageBytes) / Math.max(1, livingBytes)));
  return percent < growthMin ? 0 : percent;
}

function keepHeapRoom(): void {
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
